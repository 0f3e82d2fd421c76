// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdlib.h>

#include "main/limiter.h"

static unsigned take_all(struct limiter *l, uint16_t port, uint64_t now)
{
	unsigned n = 0;
	while (n < 1000 && limiter_take(l, port, now))
		n++;
	return n;
}

static void test_burst_then_rate(void **state)
{
	(void)state;
	static const struct {
		uint64_t now_ms;
		unsigned tokens;
	} steps[] = {
		{1000, LIMITER_BURST},
		{1000, 0},
		{1009, 0},
		{1010, 1},
		{1015, 0},
		{1020, 1},
		{1125, 10},
		{1125, 0},
		{1130, 1},
		{100000, LIMITER_BURST},
	};
	struct limiter *l = calloc(1, sizeof(*l));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_int_equal(take_all(l, 3, steps[i].now_ms * 1000000), steps[i].tokens);
	free(l);
}

static void test_ports_are_independent(void **state)
{
	(void)state;
	struct limiter *l = calloc(1, sizeof(*l));
	assert_int_equal(take_all(l, 1, 5000000000), LIMITER_BURST);
	assert_int_equal(take_all(l, 2, 5000000000), LIMITER_BURST);
	assert_int_equal(take_all(l, 65535, 5000000000), LIMITER_BURST); // bounds: shared row 0
	assert_int_equal(take_all(l, 65534, 5000000000), 0);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst_then_rate),
		cmocka_unit_test(test_ports_are_independent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
