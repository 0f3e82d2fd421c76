// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "model/problem.h"

static void test_clean(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "plain"}, {"a\nb\tc\x7f", "a?b?c?"}, {"\xc3\xa4 ok", "\xc3\xa4 ok"},
		{"\xc3", "?"},      {"\xed\xa0\x80", "???"},   {"\xff\xfe", "??"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_free_ char *text = strdup(cases[i].in);

		assert_string_equal(problem_clean(text), cases[i].out);
	}
}

static void test_list(void **state)
{
	_cleanup_(problem_list_fini) struct problem_list a = {0}, b = {0};

	(void)state;
	assert_true(problem_list_is_equal(&a, &b));
	problem_add(&a, "hint", "what %d", 1);
	assert_string_equal(a.at[0].what, "what 1");
	assert_string_equal(a.at[0].hint, "hint");
	assert_false(problem_list_is_equal(&a, &b));
	problem_add(&b, "hint", "what 2");
	assert_false(problem_list_is_equal(&a, &b));
	for (int i = 1; i < PROBLEM_LIST_MAX + 3; i++)
		problem_add(&a, "hint", "what");
	assert_int_equal(a.count, PROBLEM_LIST_MAX);
	assert_int_equal(a.more, 3);
}

// A text that is cut within a character stays valid.
static void test_long_text(void **state)
{
	_cleanup_(problem_list_fini) struct problem_list list = {0};
	char text[PROBLEM_TEXT_MAX * 2];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[sizeof(text) - 1] = '\0';
	problem_add(&list, text, "x%s", text);
	assert_int_equal(strlen(list.at[0].what), PROBLEM_TEXT_MAX - 1);
	assert_true(utf8_is_valid(list.at[0].what, strlen(list.at[0].what)));
	assert_true(utf8_is_valid(list.at[0].hint, strlen(list.at[0].hint)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
