// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/problems.h"

static struct problems *p;

static int setup(void **state)
{
	(void)state;
	p = problems_new();
	return p ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	problems_free(p);
	return 0;
}

static void expect(const char *want)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_free_ char *text = NULL;

	jput_object(j, NULL);
	problems_put(p, j);
	jput_end(j);
	text = jput_take(j);
	assert_string_equal(text, want);
}

static void test_scopes(void **state)
{
	(void)state;
	expect("{\"problems\":[]}");
	assert_true(problems_set_one(p, "a", "broken", "mend"));
	assert_false(problems_set_one(p, "a", "broken", "mend"));
	assert_true(problems_set_one(p, "b", "gone", "find"));
	expect("{\"problems\":[{\"what\":\"broken\",\"hint\":\"mend\"},"
	       "{\"what\":\"gone\",\"hint\":\"find\"}]}");
	assert_true(problems_set_one(p, "a", "worse", "mend"));
	assert_true(problems_set_one(p, "b", NULL, NULL));
	assert_false(problems_set_one(p, "b", NULL, NULL));
	expect("{\"problems\":[{\"what\":\"worse\",\"hint\":\"mend\"}]}");
	assert_int_equal(problems_len(p), 1);
}

static void test_clear_prefix(void **state)
{
	(void)state;
	problems_set_one(p, "weftd a", "x", "h");
	problems_set_one(p, "weftd b", "x", "h");
	problems_set_one(p, "file", "y", "h");
	assert_true(problems_clear_prefix(p, "weftd "));
	assert_false(problems_clear_prefix(p, "weftd "));
	assert_int_equal(problems_len(p), 1);
	expect("{\"problems\":[{\"what\":\"y\",\"hint\":\"h\"}]}");
}

// However many there are, a report stays small and says that there are more.
static void test_limits(void **state)
{
	_cleanup_(problem_list_fini) struct problem_list list = {0};
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_free_ char *text = NULL;
	char scope[16];

	(void)state;
	for (int i = 0; i < PROBLEM_LIST_MAX + 5; i++)
		problem_add(&list, "h", "x%d", i);
	for (int i = 0; i < 10; i++) {
		snprintf(scope, sizeof(scope), "s%d", i);
		assert_true(problems_set(p, scope, &list));
	}
	assert_int_equal(problems_len(p), 10 * (PROBLEM_LIST_MAX + 5));
	jput_object(j, NULL);
	problems_put(p, j);
	jput_end(j);
	text = jput_take(j);
	snprintf(scope, sizeof(scope), "%d more",
		 10 * (PROBLEM_LIST_MAX + 5) - PROBLEMS_REPORT_MAX);
	assert_non_null(strstr(text, scope));
	assert_true(problems_clear_prefix(p, "s"));
	assert_int_equal(problems_len(p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scopes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clear_prefix, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	problems_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
