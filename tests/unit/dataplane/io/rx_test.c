// SPDX-License-Identifier: Apache-2.0
// The receive engine on real veths: what pod ends send comes out of rx_burst, and nothing else
// does.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cm.h"
#include "io/rx.h"
#include "harness/netlab.h"

#define PORT_A 5
#define PORT_B 9

static struct netlab lab;
static struct netlab_veth veth_a, veth_b;
static struct counters *counters;

static uint64_t drops(uint16_t port, enum drop_reason reason)
{
	return atomic_load(&counters->port[port].drops[reason]);
}

static struct rx_group *open_group(enum rx_mode mode)
{
	struct rx_conf conf = {.netns_fd = lab.host_fd, .workers = 1, .mode = mode};
	struct rx_group *g = NULL;
	struct err err = ERR_INIT;
	if (rx_group_open(&conf, &g, &err) < 0)
		fail_msg("%s", err.text);
	memset(counters, 0, sizeof(*counters));
	assert_int_equal(rx_port_add(g, veth_a.ifindex, PORT_A, 0), 0);
	assert_int_equal(rx_port_add(g, veth_b.ifindex, PORT_B, 0), 0);
	return g;
}

static void frames_of_two_ports(enum rx_mode mode)
{
	struct rx_group *g = open_group(mode);
	struct rx *rx = rx_group_worker(g, 0);
	struct pkt pkts[PKT_BURST];
	uint8_t frame[1514];
	for (unsigned i = 0; i < 40; i++) {
		netlab_frame(frame, 60 + i, i);
		assert_int_equal(netlab_send(i % 2 ? &veth_b : &veth_a, frame, 60 + i, NULL), 0);
	}
	unsigned n = rx_burst(rx, pkts, PKT_BURST, clock_now_ns(), counters);
	assert_int_equal(n, 40);
	for (unsigned i = 0; i < n; i++) {
		netlab_frame(frame, 60 + i, i);
		assert_int_equal(pkts[i].in_port, i % 2 ? PORT_B : PORT_A);
		assert_int_equal(pkts[i].len, 60 + i);
		assert_memory_equal(pkts[i].data, frame, 60 + i);
		assert_int_equal(pkts[i].flags, 0);
	}
	rx_release(rx);
	assert_int_equal(rx_burst(rx, pkts, PKT_BURST, clock_now_ns(), counters), 0);
	assert_int_equal(counters->port[PORT_A].rx_packets, 20);
	assert_int_equal(counters->port[PORT_B].rx_packets, 20);
	rx_group_close(g);
}

static void test_lanes_hand_out_frames(void **state)
{
	(void)state;
	frames_of_two_ports(RX_MODE_LANES);
}

static void test_mmsg_hands_out_frames(void **state)
{
	(void)state;
	frames_of_two_ports(RX_MODE_MMSG);
}

static int setup(void **state)
{
	(void)state;
	counters = calloc(1, sizeof(*counters));
	if (!counters || netlab_add(&lab, 1, 0, &veth_a) < 0 || netlab_add(&lab, 2, 0, &veth_b) < 0)
		return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	netlab_del(&lab, &veth_a);
	netlab_del(&lab, &veth_b);
	netlab_stop(&lab);
	free(counters);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes_hand_out_frames),
		cmocka_unit_test(test_mmsg_hands_out_frames),
	};
	(void)drops;
	if (geteuid() != 0 || netlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
