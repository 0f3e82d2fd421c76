// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/node/node.h"

static struct node *make(const char *name, bool self, uint64_t generation)
{
	struct node *n = calloc(1, sizeof(*n));

	n->name = strdup(name);
	n->self = self;
	n->generation = generation;
	return n;
}

static void test_set_and_del(void **state)
{
	struct node_table *t = node_table_new();

	(void)state;
	assert_null(node_table_self(t));
	assert_int_equal(node_table_set(t, make("a", false, 0)), 0);
	assert_int_equal(node_table_set(t, make("b", true, 0)), 0);
	assert_string_equal(node_table_self(t)->name, "b");
	// An upsert keeps one row per name.
	assert_int_equal(node_table_set(t, make("b", true, 0)), 0);
	assert_int_equal(node_table_len(t), 2);
	assert_true(node_table_del(t, "b"));
	assert_null(node_table_self(t));
	assert_false(node_table_del(t, "b"));
	node_table_free(t);
	node_table_free(NULL);
	node_free(NULL);
}

static int count_self(const struct node *n, void *arg)
{
	*(int *)arg += n->self;
	return 0;
}

// There is one own node: the newest that says so.
static void test_one_self(void **state)
{
	struct node_table *t = node_table_new();
	int selves = 0;

	(void)state;
	assert_int_equal(node_table_set(t, make("a", true, 0)), 0);
	assert_int_equal(node_table_set(t, make("b", true, 0)), 0);
	assert_string_equal(node_table_self(t)->name, "b");
	(void)node_table_foreach(t, count_self, &selves);
	assert_int_equal(selves, 1);
	assert_int_equal(node_table_set(t, make("b", false, 0)), 0);
	assert_null(node_table_self(t));
	node_table_free(t);
}

static int stop(const struct node *n, void *arg)
{
	(void)n;
	++*(int *)arg;
	return 7;
}

static void test_sweep(void **state)
{
	struct node_table *t = node_table_new();
	char name[16];
	int calls = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(node_table_set(t, make(name, i == 3, (uint64_t)(i % 4))), 0);
	}
	assert_int_equal(node_table_foreach(t, stop, &calls), 7);
	assert_int_equal(calls, 1);
	assert_int_equal(node_table_sweep(t, 0), 0);
	assert_int_equal(node_table_sweep(t, 3), 75);
	assert_string_equal(node_table_self(t)->name, "n3");
	assert_int_equal(node_table_sweep(t, 4), 25);
	assert_int_equal(node_table_len(t), 0);
	assert_null(node_table_self(t));
	node_table_free(t);
}

static void test_limit(void **state)
{
	struct node_table *t = node_table_new();
	struct node *more = make("more", false, 0);
	char name[16];

	(void)state;
	for (int i = 0; i < NODES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(node_table_set(t, make(name, false, 0)), 0);
	}
	assert_int_equal(node_table_set(t, more), -E2BIG);
	assert_int_equal(node_table_set(t, make("n5", true, 0)), 0);
	node_free(more);
	node_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_del),
		cmocka_unit_test(test_one_self),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
