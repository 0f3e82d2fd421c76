// SPDX-License-Identifier: Apache-2.0
// Ports of a receive group: bounds, many of them coming and going, an interface index that is used
// again, interfaces that are no port.
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "harness/cm.h"
#include "harness/rxlab.h"

#define MANY 100
#define REUSED_INDEX 1234

static struct rxlab lab;

static void test_bounds(void **state)
{
	(void)state;
	static const struct {
		uint32_t ifindex;
		uint16_t port;
		unsigned worker;
		int result;
	} cases[] = {
		{0, 1, 0, -ERANGE},
		{RX_IFINDEX_MAX, 1, 0, -ERANGE},
		{UINT32_MAX, 1, 0, -ERANGE},
		{50, 0, 0, -ERANGE},
		{50, PORT_MAX, 0, -ERANGE},
		{50, 1, 1, -EINVAL},
		{50, 1, 0, 0},
		{50, 2, 0, -EEXIST},
		{RX_IFINDEX_MAX - 1, PORT_MAX - 1, 0, 0},
	};
	rxlab_open(&lab, RX_MODE_LANES, 1);
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(
			rx_port_add(lab.g, cases[i].ifindex, cases[i].port, cases[i].worker),
			cases[i].result);
	rx_port_del(lab.g, UINT32_MAX);
	rx_port_del(lab.g, 51); // nothing there
	assert_null(rx_group_worker(lab.g, 1));
	rxlab_close(&lab);
}

static void test_bad_conf(void **state)
{
	(void)state;
	struct rx_group *g = NULL;
	struct rx_conf conf = {.netns_fd = lab.net.host_fd, .workers = 0};
	assert_int_equal(rx_group_open(&conf, &g, NULL), -EINVAL);
	conf.workers = PORT_WORKERS_MAX + 1;
	assert_int_equal(rx_group_open(&conf, &g, NULL), -EINVAL);
	conf = (struct rx_conf){.netns_fd = -1, .workers = 1};
	assert_int_equal(rx_group_open(&conf, &g, NULL), -EBADF);
	assert_null(g);
}

// The kernel still has frames of the first pod when a second one gets its index.
static void reuse_index(enum rx_mode mode)
{
	struct netlab_veth first, second;
	rxlab_open(&lab, mode, 1);
	assert_int_equal(netlab_add(&lab.net, 7, REUSED_INDEX, &first), 0);
	assert_int_equal(first.ifindex, REUSED_INDEX);
	assert_int_equal(rx_port_add(lab.g, REUSED_INDEX, RXLAB_A + 20, 0), 0);
	rxlab_send(&first, 0, 5, 60);
	rxlab_turn(&lab, 0);
	assert_int_equal(lab.c->port[RXLAB_A + 20].rx_packets, 5);
	rxlab_send(&first, 0, 30, 60);
	netlab_del(&lab.net, &first);
	rx_port_del(lab.g, REUSED_INDEX);
	assert_int_equal(netlab_add(&lab.net, 8, REUSED_INDEX, &second), 0);
	assert_int_equal(rx_port_add(lab.g, REUSED_INDEX, RXLAB_A + 21, 0), 0);
	if (mode == RX_MODE_LANES) // counts tell the frames apart
		rxlab_send(&second, 100, 3, 60);
	rxlab_drain(&lab);
	if (mode == RX_MODE_MMSG) // the socket had to be empty once
		rxlab_send(&second, 100, 3, 60);
	rxlab_drain(&lab);
	assert_int_equal(lab.c->port[RXLAB_A + 20].rx_packets, 5);
	assert_int_equal(lab.c->port[RXLAB_A + 21].rx_packets, 3);
	assert_int_equal(rxlab_drops(&lab, 0, DROP_RX_UNKNOWN_PORT), 30);
	netlab_del(&lab.net, &second);
	rxlab_close(&lab);
}

static void test_index_used_again(void **state)
{
	(void)state;
	reuse_index(RX_MODE_LANES);
	reuse_index(RX_MODE_MMSG);
}

// The port was in the bulk lane when it went.
static void test_bulk_port_removed(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	for (unsigned i = 0; i < 3; i++) {
		rxlab_move_up(&lab, &lab.a, 0, 0);
		rxlab_send(&lab.a, 0, 1000, 60);
		rx_port_del(lab.g, lab.a.ifindex);
		assert_int_equal(rx_port_add(lab.g, lab.a.ifindex, RXLAB_A, 0), 0);
		assert_int_equal(rx_port_lane(lab.g, lab.a.ifindex), RX_LANE_EXPRESS);
		uint64_t before = lab.got_a;
		rxlab_send(&lab.a, 0, 10, 60);
		rxlab_drain(&lab);
		assert_int_equal(lab.got_a, before + 10);
		assert_int_equal(rx_group_worker(lab.g, 0)->moved_count, 0);
	}
	rxlab_close(&lab);
}

static void test_frames_of_no_port(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	rx_port_del(lab.g, lab.b.ifindex);
	rxlab_send(&lab.b, 0, 17, 60);
	rxlab_send(&lab.a, 0, PKT_BURST, 60);
	rxlab_drain(&lab);
	assert_int_equal(lab.got_b, 0);
	assert_int_equal(lab.got_a, PKT_BURST);
	assert_int_equal(rxlab_drops(&lab, 0, DROP_RX_UNKNOWN_PORT), 17);
	rxlab_close(&lab);
}

static void test_many_ports_come_and_go(void **state)
{
	(void)state;
	static struct netlab_veth veths[MANY];
	rxlab_open(&lab, RX_MODE_LANES, 1);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			assert_int_equal(netlab_add(&lab.net, 10 + i, 0, &veths[i]), 0);
			assert_int_equal(
				rx_port_add(lab.g, veths[i].ifindex, (uint16_t)(100 + i), 0), 0);
			rxlab_send(&veths[i], 0, 3, 60);
			rxlab_turn(&lab, 0);
		}
		for (unsigned i = 0; i < MANY; i++) {
			rx_port_del(lab.g, veths[i].ifindex);
			netlab_del(&lab.net, &veths[i]);
		}
		rxlab_turn(&lab, 0);
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(lab.c->port[100 + i].rx_packets, 6);
	assert_int_equal(rxlab_rx_drops(&lab, 0), 0);
	rxlab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_bad_conf),
		cmocka_unit_test(test_index_used_again),
		cmocka_unit_test(test_bulk_port_removed),
		cmocka_unit_test(test_frames_of_no_port),
		cmocka_unit_test(test_many_ports_come_and_go),
	};
	if (geteuid() != 0 || rxlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	rxlab_stop(&lab);
	return r;
}
