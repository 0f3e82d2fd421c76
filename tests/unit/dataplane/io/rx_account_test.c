// SPDX-License-Identifier: Apache-2.0
// Shares: a flooding port fills neither lane for the others, what it loses is counted on it, and
// what the kernel lost behind the programs' back does not count as waiting for ever.
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cm.h"
#include "harness/rxlab.h"
#include "io/rx_account.h"

#define FLOOD 40000 // more than half of a lane of small frames

static struct rxlab lab;

static void check_sums(uint32_t sent_a, uint32_t sent_b)
{
	rxlab_drain(&lab);
	uint64_t a = lab.got_a + rxlab_rx_drops(&lab, RXLAB_A);
	uint64_t b = lab.got_b + rxlab_rx_drops(&lab, RXLAB_B);
	assert_int_equal(a, sent_a);
	assert_int_equal(b, sent_b);
	assert_int_equal(rxlab_rx_drops(&lab, 0), 0);
	assert_int_equal(lab.c->port[RXLAB_A].rx_packets, lab.got_a);
	assert_true(account_is_settled(rx_group_worker(lab.g, 0)));
}

static void test_flood_in_express_leaves_room(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	uint32_t a = rxlab_send(&lab.a, 0, FLOOD, 60); // nobody reads
	uint32_t b = rxlab_send(&lab.b, 0, 500, 1000);
	check_sums(a, b);
	assert_int_equal(lab.got_b, b);
	assert_true(rxlab_drops(&lab, RXLAB_A, DROP_RX_QUEUE_FULL) > 0);
	assert_int_equal(rxlab_rx_drops(&lab, RXLAB_B), 0);
	rxlab_close(&lab);
}

static void test_flood_in_ring_leaves_both_lanes(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	uint32_t a = rxlab_move_up(&lab, &lab.a, 0, 0);
	a = rxlab_send(&lab.a, a, 2 * FLOOD, 60);
	uint32_t b = rxlab_send(&lab.b, 0, 500, 1000);
	// The quiet port does not wait behind the flood: its frames are in the next bursts.
	uint64_t got_a = lab.got_a;
	while (lab.got_b < b)
		rxlab_turn(&lab, 0);
	assert_true(lab.got_a - got_a < 40 * PKT_BURST);
	check_sums(a, b);
	assert_true(rxlab_drops(&lab, RXLAB_A, DROP_RX_QUEUE_FULL) > 0);
	assert_int_equal(rxlab_rx_drops(&lab, RXLAB_B), 0);
	rxlab_close(&lab);
}

// Frames that the socket has no room for were admitted before.
static void test_lost_frames_are_written_off(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	struct rx *rx = rx_group_worker(lab.g, 0);
	int small = 64 << 10;
	assert_int_equal(
		setsockopt(rx->express_fd, SOL_SOCKET, SO_RCVBUFFORCE, &small, sizeof(small)), 0);
	uint32_t a = rxlab_send(&lab.a, 0, 2000, 60);
	while (rxlab_turn(&lab, 0) > 0)
		;
	rx_wait(rx, 0);
	uint64_t lost = rxlab_drops(&lab, 0, DROP_RX_SOCKET_FULL);
	assert_true(lost > 0);
	assert_int_equal(lab.got_a + lost, a);
	assert_false(account_is_settled(rx));
	uint64_t deadline = clock_deadline_ns(RXLAB_DEADLINE_MS);
	while (!account_is_settled(rx) && clock_left_ms(deadline) > 0) {
		lab.skip_ns += 30 * NS_PER_MS;
		rxlab_turn(&lab, 0);
	}
	assert_true(account_is_settled(rx));
	rxlab_close(&lab);
}

// A sleeping worker must wake by itself while counts are wrong, or a port could stay shut.
static void test_sleep_is_short_until_settled(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	struct rx *rx = rx_group_worker(lab.g, 0);
	rxlab_turn(&lab, 0);
	atomic_fetch_add(&rx->lanes[RX_LANE_EXPRESS]->in, 1000);
	uint64_t before = clock_now_ns();
	rx_wait(rx, 10000);
	assert_true(clock_now_ns() - before < 5 * NS_PER_SEC);
	rxlab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flood_in_express_leaves_room),
		cmocka_unit_test(test_flood_in_ring_leaves_both_lanes),
		cmocka_unit_test(test_lost_frames_are_written_off),
		cmocka_unit_test(test_sleep_is_short_until_settled),
	};
	if (geteuid() != 0 || rxlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	rxlab_stop(&lab);
	return r;
}
