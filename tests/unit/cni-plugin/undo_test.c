// SPDX-License-Identifier: Apache-2.0
#include "undo.h"

#include <string.h>

#include "cm.h"

static char trace[16];

static void note(void *arg)
{
	strncat(trace, arg, sizeof(trace) - strlen(trace) - 1);
}

static void fill(struct undo *undo)
{
	static char letters[][2] = {"a", "b", "c"};

	trace[0] = 0;
	for (size_t i = 0; i < 3; i++)
		undo_add(undo, note, letters[i]);
}

static void runs_last_first(void **state)
{
	struct undo undo = {0};

	(void)state;
	fill(&undo);
	undo_run(&undo);
	assert_string_equal(trace, "cba");
	undo_run(&undo);
	assert_string_equal(trace, "cba");
}

static void runs_down_to_a_mark(void **state)
{
	struct undo undo = {0};

	(void)state;
	fill(&undo);
	undo_run_to(&undo, 1);
	assert_string_equal(trace, "cb");
	undo_run(&undo);
	assert_string_equal(trace, "cba");
}

static void forgets(void **state)
{
	struct undo undo = {0};

	(void)state;
	fill(&undo);
	undo_forget(&undo);
	undo_run(&undo);
	assert_string_equal(trace, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_last_first),
		cmocka_unit_test(runs_down_to_a_mark),
		cmocka_unit_test(forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
