// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/utf8.h"

static void test_seq(void **state)
{
	(void)state;
	static const struct {
		const char *name, *s;
		size_t size, want;
	} rows[] = {
		{"nothing", "", 0, 0},
		{"NUL", "\0", 1, 1},
		{"ascii", "a", 1, 1},
		{"DEL", "\x7f", 1, 1},
		{"continuation alone", "\x80", 1, 0},
		{"2 bytes, lowest", "\xc2\x80", 2, 2},
		{"2 bytes, overlong", "\xc1\xbf", 2, 0},
		{"2 bytes, cut", "\xc3", 1, 0},
		{"2 bytes, bad second", "\xc3(", 2, 0},
		{"3 bytes, lowest", "\xe0\xa0\x80", 3, 3},
		{"3 bytes, overlong", "\xe0\x9f\xbf", 3, 0},
		{"3 bytes, before surrogates", "\xed\x9f\xbf", 3, 3},
		{"surrogate", "\xed\xa0\x80", 3, 0},
		{"3 bytes, after surrogates", "\xee\x80\x80", 3, 3},
		{"3 bytes, bad third", "\xe2\x82(", 3, 0},
		{"3 bytes, cut", "\xe2\x82", 2, 0},
		{"4 bytes, lowest", "\xf0\x90\x80\x80", 4, 4},
		{"4 bytes, overlong", "\xf0\x8f\xbf\xbf", 4, 0},
		{"U+10FFFF", "\xf4\x8f\xbf\xbf", 4, 4},
		{"beyond U+10FFFF", "\xf4\x90\x80\x80", 4, 0},
		{"5-byte form", "\xf8\x88\x80\x80\x80", 5, 0},
		{"0xff", "\xff", 1, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (utf8_seq(rows[i].s, rows[i].size) != rows[i].want)
			fail_msg("%s", rows[i].name);
}

static void test_is_valid(void **state)
{
	(void)state;
	assert_true(utf8_is_valid("", 0));
	assert_true(utf8_is_valid("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10));
	assert_false(utf8_is_valid("a\xc3\xa9\xe2\x82", 5));
	assert_false(utf8_is_valid("\xffok", 3));
}

static void test_cut(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		size_t size, want;
	} rows[] = {
		{"", 0, 0},
		{"abc", 3, 3},
		{"abc", 2, 2},
		{"a\xc3\xa9", 3, 3},
		{"a\xc3\xa9", 2, 1},
		{"a\xe2\x82\xac", 4, 4},
		{"a\xe2\x82\xac", 3, 1},
		{"a\xe2\x82\xac", 2, 1},
		{"\xf0\x9f\x98\x80", 3, 0},
		// What is no text anyway is left as it is.
		{"\x80\x80\x80\x80\x80", 5, 5},
		{"\xff", 1, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (utf8_cut(rows[i].s, rows[i].size) != rows[i].want)
			fail_msg("row %zu: %zu", i, utf8_cut(rows[i].s, rows[i].size));
}

static void test_repair(void **state)
{
	(void)state;
	static const struct {
		const char *s, *want;
	} rows[] = {
		{"", ""},
		{"plain \xc3\xa9", "plain \xc3\xa9"},
		{"\xff", "\xef\xbf\xbd"},
		{"a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *out = utf8_repair(rows[i].s);
		assert_string_equal(out, rows[i].want);
		assert_true(utf8_is_valid(out, strlen(out)));
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seq),
		cmocka_unit_test(test_is_valid),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_repair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
