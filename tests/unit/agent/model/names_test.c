// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <string.h>

#include "base/compiler.h"
#include "model/names.h"

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define A63 A60 "aaa"

static const struct {
	const char *text;
	bool is_label, is_subdomain, is_key, is_value;
} cases[] = {
	{"web", true, true, true, true},
	{"web-1", true, true, true, true},
	{"1", true, true, true, true},
	{"a.b", false, true, true, true},
	{"a..b", false, false, true, true},
	{".a", false, false, false, false},
	{"a.", false, false, false, false},
	{"-a", false, false, false, false},
	{"a-", false, false, false, false},
	{"a-.b", false, false, true, true},
	{"", false, false, false, true},
	{"Web", false, false, true, true},
	{"a_b", false, false, true, true},
	{"a b", false, false, false, false},
	{"a/b", false, false, true, false},
	{"a.b/c_D", false, false, true, false},
	{"A/b", false, false, false, false},
	{"a/b/c", false, false, false, false},
	{"/b", false, false, false, false},
	{"a/", false, false, false, false},
	{"a\n", false, false, false, false},
	{"\xc3\xa4", false, false, false, false},
	{A63, true, true, true, true},
	{A63 "a", false, true, false, false},
	{A63 "." A63 "." A63 "." A60 "a", false, true, false, false},   // 253
	{A63 "." A63 "." A63 "." A60 "aa", false, false, false, false}, // 254
	{A63 "." A63 "." A63 "." A60 "a/a", false, false, true, false},
	{NULL, false, false, false, false},
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *text = cases[i].text;

		if (names_is_label(text) != cases[i].is_label ||
		    names_is_subdomain(text) != cases[i].is_subdomain ||
		    names_is_label_key(text) != cases[i].is_key ||
		    names_is_label_value(text) != cases[i].is_value)
			fail_msg("%s", text ? text : "NULL");
	}
}

static void test_uid(void **state)
{
	char text[NAMES_UID_MAX + 2];

	(void)state;
	memset(text, 'u', sizeof(text));
	text[NAMES_UID_MAX + 1] = '\0';
	assert_false(names_is_uid(text));
	text[NAMES_UID_MAX] = '\0';
	assert_true(names_is_uid(text));
	assert_true(names_is_uid(""));
	assert_true(names_is_uid("5f1c0f0e-0000-4000-8000-000000000000"));
	assert_false(names_is_uid("a b"));
	assert_false(names_is_uid("a\x7f"));
	assert_false(names_is_uid(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_uid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
