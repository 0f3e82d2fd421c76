// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

static void test_now(void **state)
{
	(void)state;
	uint64_t a = clock_now_ns(), b = clock_now_ns();

	assert_true(a > 0 && b >= a);
	// After 2020, in ns.
	assert_true(clock_wall_ns() > 1577836800ull * NS_PER_SEC);
}

static void test_format(void **state)
{
	static const struct {
		uint64_t wall_ns;
		const char *want;
	} rows[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{999999999, "1970-01-01T00:00:00.999Z"},
		{1709210096ull * NS_PER_SEC + 7 * NS_PER_MS, "2024-02-29T12:34:56.007Z"},
		{4102444799ull * NS_PER_SEC + 999999999, "2099-12-31T23:59:59.999Z"},
	};
	char out[25];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_ptr_equal(clock_format(rows[i].wall_ns, out, sizeof(out)), out);
		assert_string_equal(out, rows[i].want);
	}
}

static void test_deadline(void **state)
{
	(void)state;
	uint64_t before = clock_now_ns();
	uint64_t deadline = clock_deadline_ns(60000);

	assert_true(deadline >= before + 60000 * NS_PER_MS);
	assert_true(deadline <= clock_now_ns() + 60000 * NS_PER_MS);
	assert_in_range(clock_left_ms(deadline), 1, 60000);
	assert_int_equal(clock_left_ms(0), 0);
	assert_int_equal(clock_left_ms(clock_now_ns()), 0);
	assert_int_equal(clock_left_ms(UINT64_MAX), INT_MAX);
	assert_true(clock_deadline_ns(UINT64_MAX) == UINT64_MAX);
	assert_true(clock_deadline_ns(UINT64_MAX / NS_PER_MS) == UINT64_MAX);
	// A part of a millisecond counts as one: else poll would spin until the deadline.
	uint64_t soon = clock_now_ns() + 1000 * NS_PER_MS - 1;
	assert_in_range(clock_left_ms(soon), 1, 1000);
}

static void test_boot_id(void **state)
{
	char a[37], b[37];

	(void)state;
	assert_int_equal(clock_boot_id(a), 0);
	assert_int_equal(clock_boot_id(b), 0);
	assert_int_equal(strlen(a), 36);
	assert_string_equal(a, b);
	assert_int_equal(a[8], '-');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_now),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_boot_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
