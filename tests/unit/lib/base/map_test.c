// SPDX-License-Identifier: Apache-2.0
// wrap: calloc malloc
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

static int allocs_left = -1; // allocations that still succeed, -1 = all

static bool may_allocate(void)
{
	if (allocs_left < 0)
		return true;
	return allocs_left > 0 ? allocs_left-- > 0 : false;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return may_allocate() ? __real_malloc(size) : NULL;
}

static unsigned freed;

static void count_free(void *value)
{
	freed++;
	free(value);
}

static void test_borrowed(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *m = map_new(NULL);
	int a, b;

	assert_null(map_get(m, "x"));
	assert_int_equal(map_set(m, "x", &a), 0);
	assert_int_equal(map_set(m, "", &b), 0);
	assert_ptr_equal(map_get(m, "x"), &a);
	assert_ptr_equal(map_get(m, ""), &b);
	assert_int_equal(map_set(m, "x", &b), 0);
	assert_ptr_equal(map_get(m, "x"), &b);
	assert_int_equal(map_len(m), 2);
	assert_true(map_del(m, "x"));
	assert_false(map_del(m, "x"));
	assert_ptr_equal(map_take(m, ""), &b);
	assert_null(map_take(m, ""));
	assert_int_equal(map_len(m), 0);
	map_free(NULL);
}

static void test_owned(void **state)
{
	(void)state;
	struct map *m = map_new(count_free);
	char *kept = strdup("kept");

	freed = 0;
	assert_int_equal(map_set(m, "a", strdup("1")), 0);
	assert_int_equal(map_set(m, "a", strdup("2")), 0);
	assert_int_equal(freed, 1);
	assert_int_equal(map_set(m, "a", map_get(m, "a")), 0);
	assert_int_equal(freed, 1);
	assert_string_equal(map_get(m, "a"), "2");
	assert_true(map_del(m, "a"));
	assert_int_equal(freed, 2);
	assert_int_equal(map_set(m, "b", kept), 0);
	assert_int_equal(map_set(m, "c", strdup("3")), 0);
	assert_ptr_equal(map_take(m, "b"), kept);
	assert_int_equal(freed, 2);
	map_freep(&m);
	assert_null(m);
	assert_int_equal(freed, 3);
	free(kept);
}

static void test_key_is_copied(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *m = map_new(NULL);
	char key[] = "key";
	int v;

	assert_int_equal(map_set(m, key, &v), 0);
	key[0] = 'X';
	assert_ptr_equal(map_get(m, "key"), &v);
}

struct seen {
	struct map *m;
	unsigned count, stop_at;
	bool delete;
};

static int see(const char *key, void *value, void *arg)
{
	struct seen *s = arg;
	char want[16];

	(void)value;
	snprintf(want, sizeof(want), "k%u", s->count);
	assert_string_equal(key, want);
	s->count++;
	if (s->delete)
		assert_true(map_del(s->m, want));
	return s->count == s->stop_at ? 7 : 0;
}

static void test_foreach(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *m = map_new(count_free);
	struct seen s = {.m = m};
	char key[16];

	// Many: the table grows, the order stays.
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		assert_int_equal(map_set(m, key, strdup(key)), 0);
	}
	assert_int_equal(map_set(m, "k17", strdup("replaced in place")), 0);
	assert_int_equal(map_foreach(m, see, &s), 0);
	assert_int_equal(s.count, 5000);
	s = (struct seen){.m = m, .stop_at = 3};
	assert_int_equal(map_foreach(m, see, &s), 7);
	assert_int_equal(s.count, 3);
	s = (struct seen){.m = m, .delete = true};
	assert_int_equal(map_foreach(m, see, &s), 0);
	assert_int_equal(map_len(m), 0);
}

// Fails at each allocation in turn: nothing is lost, nothing half-inserted.
static void test_no_memory(void **state)
{
	int value, want = -ENOMEM;

	(void)state;
	allocs_left = 0;
	struct map *m = map_new(NULL);
	allocs_left = -1;
	assert_null(m);
	m = map_new(NULL);
	for (int n = 0; want == -ENOMEM; n++) {
		assert_true(n < 10);
		allocs_left = n;
		int r = map_set(m, "key", &value);
		allocs_left = -1;
		if (r == 0)
			want = 0;
		assert_int_equal(r, want);
		assert_int_equal(map_len(m), r == 0 ? 1 : 0);
		assert_ptr_equal(map_get(m, "key"), r == 0 ? &value : NULL);
	}
	map_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_borrowed),      cmocka_unit_test(test_owned),
		cmocka_unit_test(test_key_is_copied), cmocka_unit_test(test_foreach),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
