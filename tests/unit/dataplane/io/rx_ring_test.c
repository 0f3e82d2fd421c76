// SPDX-License-Identifier: Apache-2.0
// Life of the bulk lanes: made when asked for, gone after an idle time, made again; with two
// workers they leave in the reverse order of joining and no frame reaches the wrong worker.
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "harness/cm.h"
#include "harness/rxlab.h"

#define IDLE_NS (6 * NS_PER_SEC)

static struct rxlab lab;

static int ring_state(unsigned worker)
{
	return atomic_load(&lab.g->rx[worker].ring.state);
}

static void pass_idle_time(unsigned worker)
{
	lab.skip_ns += IDLE_NS;
	rxlab_turn(&lab, worker);
	rxlab_turn(&lab, worker);
}

static void test_ring_comes_and_goes(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	uint32_t sent = 0;
	assert_int_equal(ring_state(0), RX_RING_NONE);
	for (unsigned i = 0; i < 3; i++) {
		sent = rxlab_move_up(&lab, &lab.a, 0, sent);
		assert_int_equal(ring_state(0), RX_RING_READY);
		assert_int_equal(lab.g->members, 2);
		sent = rxlab_send(&lab.a, sent, 700, 200);
		rxlab_move_down(&lab, &lab.a, 0);
		assert_int_equal(ring_state(0), RX_RING_READY);
		pass_idle_time(0);
		assert_int_equal(ring_state(0), RX_RING_NONE);
		assert_int_equal(lab.g->members, 1);
		sent = rxlab_send(&lab.a, sent, 10, 60);
		rxlab_drain(&lab);
		assert_int_equal(lab.got_a + rxlab_rx_drops(&lab, RXLAB_A), sent);
	}
	assert_int_equal(rxlab_rx_drops(&lab, 0), 0);
	rxlab_close(&lab);
}

static void test_used_again_before_it_is_gone(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	uint32_t sent = rxlab_move_up(&lab, &lab.a, 0, 0);
	rxlab_move_down(&lab, &lab.a, 0);
	lab.g->members++; // as if a later ring stood behind it: it has to wait
	pass_idle_time(0);
	assert_int_equal(ring_state(0), RX_RING_RELEASED);
	lab.g->members--;
	sent = rxlab_move_up(&lab, &lab.a, 0, sent);
	assert_int_equal(ring_state(0), RX_RING_READY);
	sent = rxlab_send(&lab.a, sent, 700, 200);
	rxlab_drain(&lab);
	assert_int_equal(lab.got_a, sent);
	rxlab_close(&lab);
}

static void test_two_workers(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 2);
	uint32_t a = rxlab_move_up(&lab, &lab.a, 0, 0);
	uint32_t b = rxlab_move_up(&lab, &lab.b, 1, 0);
	assert_int_equal(lab.g->members, 4);
	for (unsigned i = 0; i < 20; i++) {
		a = rxlab_send(&lab.a, a, 100, 60);
		b = rxlab_send(&lab.b, b, 100, 60);
		rxlab_turn(&lab, 0);
		rxlab_turn(&lab, 1);
	}
	rxlab_move_down(&lab, &lab.a, 0);
	b = rxlab_move_up(&lab, &lab.b, 1, b); // still there, or there again
	// Worker 0's ring is free, but worker 1's came later.
	pass_idle_time(0);
	assert_int_equal(ring_state(0), RX_RING_RELEASED);
	assert_int_equal(lab.g->members, 4);
	b = rxlab_send(&lab.b, b, 1000, 60);
	rxlab_move_down(&lab, &lab.b, 1);
	pass_idle_time(1);
	assert_int_equal(lab.g->members, 2);
	a = rxlab_send(&lab.a, a, 10, 60);
	b = rxlab_send(&lab.b, b, 10, 60);
	rxlab_drain(&lab);
	assert_int_equal(lab.got_a + rxlab_rx_drops(&lab, RXLAB_A), a);
	assert_int_equal(lab.got_b + rxlab_rx_drops(&lab, RXLAB_B), b);
	assert_int_equal(rxlab_drops(&lab, 0, DROP_RX_UNKNOWN_PORT), 0);
	rxlab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_comes_and_goes),
		cmocka_unit_test(test_used_again_before_it_is_gone),
		cmocka_unit_test(test_two_workers),
	};
	if (geteuid() != 0 || rxlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	rxlab_stop(&lab);
	return r;
}
