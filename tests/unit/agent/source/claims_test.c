// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/source/recorder.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "source/claims.h"
#include "unit/agent/objects.h"

static struct recorder rec;
static struct source_sink sink;
static struct claims *claims;

static int setup(void **state)
{
	(void)state;
	recorder_init(&rec);
	sink = recorder_sink(&rec);
	claims = claims_new(&sink);
	return claims ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	claims_free(claims);
	recorder_fini(&rec);
	return 0;
}

static int add(const char *name, const char *node)
{
	_cleanup_(object_unrefp) struct object *obj = NULL;
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeName\":\"%s\"}}",
		 name, node);
	obj = object_from(text);
	return claims_add(claims, obj);
}

// One round of a file that holds the pods named by letters, all on node.
static void round_of(const char *path, const char *pods, const char *node)
{
	assert_int_equal(claims_begin(claims, path), 0);
	for (const char *p = pods; *p; p++)
		assert_int_equal(add((char[]){*p, '\0'}, node), CLAIMS_ADDED);
	claims_end(claims, false);
}

static void test_one_file(void **state)
{
	(void)state;
	round_of("f", "ab", "n1");
	assert_int_equal(claims_len(claims), 2);
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n1");
	round_of("f", "bc", "n2");
	assert_null(map_get(rec.objects, "pod/default/a"));
	assert_string_equal(recorder_node(&rec, "pod/default/b"), "n2");
	assert_string_equal(recorder_node(&rec, "pod/default/c"), "n2");
	assert_int_equal(rec.dels, 1);
	claims_drop(claims, "f");
	assert_int_equal(map_len(rec.objects), 0);
	assert_int_equal(claims_len(claims), 0);
	claims_drop(claims, "f");
	assert_int_equal(problems_len(rec.problems), 0);
}

static void test_keep_rest(void **state)
{
	(void)state;
	round_of("f", "ab", "n1");
	assert_int_equal(claims_begin(claims, "f"), 0);
	assert_int_equal(add("b", "n2"), CLAIMS_ADDED);
	claims_end(claims, true);
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n1");
	assert_string_equal(recorder_node(&rec, "pod/default/b"), "n2");
	round_of("f", "b", "n2");
	assert_null(map_get(rec.objects, "pod/default/a"));
}

static void test_twice_in_one_file(void **state)
{
	(void)state;
	assert_int_equal(claims_begin(claims, "f"), 0);
	assert_int_equal(add("a", "n1"), CLAIMS_ADDED);
	assert_int_equal(add("a", "n2"), CLAIMS_TWICE);
	claims_end(claims, false);
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n2");
	assert_int_equal(problems_len(rec.problems), 0);
	claims_drop(claims, "f");
	assert_int_equal(map_len(rec.objects), 0);
}

static void test_later_file_wins(void **state)
{
	_free_ char *text = NULL;

	(void)state;
	round_of("f", "a", "n1");
	round_of("g", "ab", "n2");
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n2");
	text = recorder_problem_text(&rec);
	assert_non_null(strstr(text, "manifest g: pod/default/a also stands in f"));
	assert_int_equal(problems_len(rec.problems), 1);
	round_of("f", "a", "n3"); // read later than g now
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n3");
	// The winner gives up: the other one counts again, and nothing is ever gone.
	claims_drop(claims, "f");
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n2");
	assert_int_equal(problems_len(rec.problems), 0);
	assert_int_equal(rec.dels, 0);
}

static void test_loser_gives_up(void **state)
{
	size_t sets;

	(void)state;
	round_of("f", "a", "n1");
	round_of("g", "a", "n2");
	round_of("h", "a", "n3");
	sets = rec.sets;
	claims_drop(claims, "g");
	assert_int_equal(problems_len(rec.problems), 1);
	claims_drop(claims, "f");
	assert_int_equal(problems_len(rec.problems), 0);
	assert_string_equal(recorder_node(&rec, "pod/default/a"), "n3");
	assert_int_equal(rec.sets, sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keep_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_twice_in_one_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_later_file_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loser_gives_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
