// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>

#include "core/counters.h"

static void test_bounds(void **state)
{
	(void)state;
	assert_int_equal(counters_init(0), -ERANGE);
	assert_int_equal(counters_init(PORT_WORKERS_MAX + 1), -ERANGE);
	assert_null(counters_worker(PORT_WORKERS_MAX));
}

static void test_sum_over_workers(void **state)
{
	(void)state;
	struct counters_sum sum;
	assert_int_equal(counters_init(2), 0);
	for (unsigned w = 0; w < 2; w++) {
		counter_add(&counters_worker(w)->port[5].rx_packets, 10 + w);
		counter_drop(counters_worker(w), 5, DROP_TTL, 2);
		counter_drop(counters_worker(w), 60000, DROP_UNKNOWN, 1); // no such port: row 0
	}
	counters_sum_port(5, &sum);
	assert_int_equal(sum.rx_packets, 21);
	assert_int_equal(sum.drops[DROP_TTL], 4);
	counters_sum_port(0, &sum);
	assert_int_equal(sum.drops[DROP_UNKNOWN], 2);
	counters_sum_port(60000, &sum);
	assert_int_equal(sum.drops[DROP_UNKNOWN], 0);
	counters_fini();
}

// A port that goes and comes back starts at zero, and totals never fall.
static void test_retire_keeps_totals(void **state)
{
	(void)state;
	struct counters_sum row, gone;
	assert_int_equal(counters_init(1), 0);
	counter_add(&counters_worker(0)->port[7].tx_bytes, 1000);
	counter_drop(counters_worker(0), 7, DROP_TX_PEER_DOWN, 3);
	counters_retire(7);
	counters_sum_port(7, &row);
	counters_sum_gone(&gone);
	assert_int_equal(row.tx_bytes, 0);
	assert_int_equal(row.drops[DROP_TX_PEER_DOWN], 0);
	assert_int_equal(gone.tx_bytes, 1000);
	assert_int_equal(gone.drops[DROP_TX_PEER_DOWN], 3);
	counters_retire(PORT_MAX);
	counters_fini();
}

// Every reason has a name of its own in the form that tools rely on.
static void test_drop_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DROP_COUNT; i++) {
		assert_non_null(drop_table[i].name);
		assert_true(drop_table[i].help[0] != '\0');
		for (const char *c = drop_table[i].name; *c; c++)
			assert_true((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') ||
				    *c == '-');
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(drop_table[i].name, drop_table[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_sum_over_workers),
		cmocka_unit_test(test_retire_keeps_totals),
		cmocka_unit_test(test_drop_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
