// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/pod/pod.h"

static struct pod *make(const char *ns, const char *name, uint64_t generation)
{
	struct pod *p = calloc(1, sizeof(*p));

	p->namespace = strdup(ns);
	p->name = strdup(name);
	p->generation = generation;
	return p;
}

static void test_set_and_del(void **state)
{
	struct pod_table *t = pod_table_new();

	(void)state;
	assert_int_equal(pod_table_set(t, make("a", "b", 0)), 0);
	assert_int_equal(pod_table_set(t, make("a", "b", 5)), 0);
	assert_int_equal(pod_table_len(t), 1);
	assert_int_equal(pod_table_get(t, "a", "b")->generation, 5);
	assert_null(pod_table_get(t, "b", "a"));
	assert_true(pod_table_del(t, "a", "b"));
	assert_false(pod_table_del(t, "a", "b"));
	pod_table_free(t);
	pod_table_free(NULL);
	pod_free(NULL);
}

static void test_sweep(void **state)
{
	struct pod_table *t = pod_table_new();
	char name[16];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		assert_int_equal(pod_table_set(t, make("ns", name, (uint64_t)(i % 2))), 0);
	}
	assert_int_equal(pod_table_sweep(t, 1), 2500);
	assert_int_equal(pod_table_len(t), 2500);
	assert_null(pod_table_get(t, "ns", "p4"));
	assert_non_null(pod_table_get(t, "ns", "p5"));
	pod_table_free(t);
}

static void test_limit(void **state)
{
	struct pod_table *t = pod_table_new();
	struct pod *more = make("ns", "more", 0);
	char name[16];

	(void)state;
	for (int i = 0; i < PODS_MAX; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		assert_int_equal(pod_table_set(t, make("ns", name, 0)), 0);
	}
	assert_int_equal(pod_table_set(t, more), -E2BIG);
	assert_int_equal(pod_table_set(t, make("ns", "p7", 9)), 0);
	pod_free(more);
	pod_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_del),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
