// SPDX-License-Identifier: Apache-2.0
// Held frames: copies, order per port, limits, and memory that is used again.
#include <string.h>

#include "harness/cm.h"
#include "io/rx_buffers.h"

static uint8_t buf[PKT_HEADROOM + 70000];
static uint32_t blocked; // interface that may not go yet

static bool is_ready(void *arg, uint32_t ifindex)
{
	(void)arg;
	return ifindex != blocked;
}

static bool put(struct hold_rx *h, uint32_t ifindex, uint32_t len, uint8_t mark)
{
	struct rx_frame f = {
		.data = buf + PKT_HEADROOM, .len = len, .wire_len = len, .ifindex = ifindex};
	memset(buf, mark, PKT_HEADROOM + len);
	return hold_put(h, &f);
}

static void test_copies_and_keeps_order(void **state)
{
	(void)state;
	struct hold_rx *h = rx_buffers_new_hold();
	struct rx_frame f[64];
	for (uint8_t i = 0; i < 100; i++)
		assert_true(put(h, 1 + i % 2, 60u + i, i));
	blocked = 2;
	assert_int_equal(hold_take(h, is_ready, NULL, f, 64), 50);
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(f[i].len, 60 + 2 * i);
		assert_int_equal(f[i].data[0], 2 * i);
		assert_int_equal(f[i].data[f[i].len - 1], 2 * i);
		assert_int_equal(f[i].data[-VNET_HDR_LEN], 2 * i);
	}
	assert_int_equal(hold_take(h, is_ready, NULL, f, 64), 0);
	assert_int_equal(hold_count(h), 50);
	blocked = 0;
	assert_int_equal(hold_take(h, is_ready, NULL, f, 20), 20);
	assert_int_equal(f[0].data[0], 1);
	assert_int_equal(hold_take(h, is_ready, NULL, f, 64), 30);
	assert_int_equal(f[29].data[0], 99);
	assert_int_equal(hold_count(h), 0);
	rx_buffers_free_hold(h);
}

static void test_limits_and_reuse(void **state)
{
	(void)state;
	struct hold_rx *h = rx_buffers_new_hold();
	struct rx_frame f[64];
	blocked = 0;
	for (unsigned round = 0; round < 3; round++) {
		unsigned n = 0;
		while (put(h, 1, 60, 7))
			n++;
		assert_int_equal(n, HOLD_FRAMES);
		while (hold_take(h, is_ready, NULL, f, 64) > 0)
			;
		for (n = 0; put(h, 1, 65000, 9); n++)
			;
		assert_int_equal(n, HOLD_BYTES / 65088);
		while (hold_take(h, is_ready, NULL, f, 64) > 0)
			;
	}
	rx_buffers_free_hold(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_and_keeps_order),
		cmocka_unit_test(test_limits_and_reuse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
