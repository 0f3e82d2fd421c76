// SPDX-License-Identifier: Apache-2.0
// What pod ends send comes out of rx_burst as it was, by either lane and without eBPF: bytes,
// offload header, VLAN tag; sleeping and waking; links that go down or away under load.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "harness/cm.h"
#include "harness/frames.h"
#include "harness/rxlab.h"

static struct rxlab lab;
static uint8_t *big; // FRAME_MAX bytes

// The frame that look_at_one saw last, copied.
static struct {
	struct pkt pkt;
	uint32_t len;
	uint8_t *data;
} last;

static void look_at_one(struct rxlab *l, const struct pkt *p)
{
	(void)l;
	last.pkt = *p;
	last.len = p->len;
	memcpy(last.data, p->data, p->len);
	// What stands before the frame is ours to write.
	memset(p->data - PKT_HEADROOM, 0xee, PKT_HEADROOM);
}

static void receive_one(void)
{
	uint64_t deadline = clock_deadline_ns(RXLAB_DEADLINE_MS);
	while (rxlab_turn(&lab, 0) == 0 && clock_left_ms(deadline) > 0)
		rx_wait(rx_group_worker(lab.g, 0), 1);
}

enum way { WAY_EXPRESS, WAY_BULK, WAY_MMSG };

static void open_way(enum way way)
{
	rxlab_open(&lab, way == WAY_MMSG ? RX_MODE_MMSG : RX_MODE_LANES, 1);
	assert_int_equal(rx_group_mode(lab.g), way == WAY_MMSG ? RX_MODE_MMSG : RX_MODE_LANES);
	if (way == WAY_BULK) {
		rxlab_move_up(&lab, &lab.a, 0, 0);
		while (rxlab_turn(&lab, 0) > 0)
			;
	}
	lab.look = look_at_one;
}

static void expect_way(enum way way)
{
	assert_int_equal(rx_port_lane(lab.g, lab.a.ifindex),
			 way == WAY_BULK ? RX_LANE_BULK : RX_LANE_EXPRESS);
}

static void test_plain_frames(void **state)
{
	(void)state;
	static const uint32_t lens[] = {14, 15, 60, 61, 64, 500, 1499, 1514};
	for (enum way way = WAY_EXPRESS; way <= WAY_MMSG; way++) {
		open_way(way);
		for (unsigned i = 0; i < ARRAY_LEN(lens); i++) {
			uint32_t full = lens[i] < 18 ? 18 : lens[i];
			netlab_frame(big, full, i);
			assert_int_equal(netlab_send(&lab.a, big, lens[i], NULL), 0);
			expect_way(way);
			receive_one();
			assert_int_equal(last.len, lens[i]);
			assert_memory_equal(last.data, big, lens[i]);
			assert_int_equal(last.pkt.in_port, RXLAB_A);
			assert_int_equal(last.pkt.flags, 0);
		}
		rxlab_close(&lab);
	}
}

static void test_gso_frame(void **state)
{
	(void)state;
	const struct frame_spec spec = {
		.src = "10.1.0.1",
		.dst = "10.1.0.2",
		.proto = 6,
		.sport = 1000,
		.dport = 2000,
		.payload = 65000,
	};
	const struct vnet_hdr vnet = {
		.flags = VNET_F_NEEDS_CSUM,
		.gso_type = VNET_GSO_TCPV4 | VNET_GSO_ECN,
		.hdr_len = 54,
		.gso_size = 1448,
		.csum_start = 34,
		.csum_offset = 16,
	};
	uint32_t len = frame_build(&spec, big);
	for (enum way way = WAY_EXPRESS; way <= WAY_MMSG; way++) {
		open_way(way);
		assert_int_equal(netlab_send(&lab.a, big, len, &vnet), 0);
		expect_way(way);
		receive_one();
		assert_int_equal(last.len, len);
		assert_memory_equal(last.data, big, len);
		assert_int_equal(last.pkt.vnet.gso_type, vnet.gso_type);
		assert_int_equal(last.pkt.vnet.gso_size, 1448);
		assert_int_equal(last.pkt.vnet.flags & VNET_F_NEEDS_CSUM, VNET_F_NEEDS_CSUM);
		assert_int_equal(last.pkt.vnet.csum_start, 34);
		assert_int_equal(last.pkt.vnet.csum_offset, 16);
		rxlab_close(&lab);
	}
}

static void test_vlan_tag(void **state)
{
	(void)state;
	uint8_t tagged[64] = {2, 0, 0, 0,    0,    1,    2,    0,    0,
			      0, 0, 2, 0x81, 0x00, 0x60, 0x05, 0x88, 0xb5};
	for (enum way way = WAY_EXPRESS; way <= WAY_MMSG; way++) {
		open_way(way);
		assert_int_equal(netlab_send(&lab.a, tagged, sizeof(tagged), NULL), 0);
		expect_way(way);
		receive_one();
		assert_int_equal(last.pkt.flags, PKT_F_VLAN);
		assert_int_equal(last.pkt.vlan_tci, 0x6005);
		assert_int_equal(last.pkt.vlan_tpid, 0x8100);
		assert_int_equal(last.len, sizeof(tagged) - 4);
		// Tag 0 is a tag, too.
		tagged[14] = tagged[15] = 0;
		assert_int_equal(netlab_send(&lab.a, tagged, sizeof(tagged), NULL), 0);
		receive_one();
		assert_int_equal(last.pkt.flags, PKT_F_VLAN);
		assert_int_equal(last.pkt.vlan_tci, 0);
		tagged[14] = 0x60;
		tagged[15] = 0x05;
		rxlab_close(&lab);
	}
}

static void test_wait_and_wake(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	struct rx *rx = rx_group_worker(lab.g, 0);
	rxlab_turn(&lab, 0);
	uint64_t start = clock_now_ns();
	rx_wait(rx, 20);
	assert_true(clock_now_ns() - start >= 19 * NS_PER_MS);
	rx_wake(rx);
	rx_wait(rx, -1); // ends
	rxlab_send(&lab.a, 0, 1, 60);
	rx_wait(rx, -1);
	assert_int_equal(rxlab_turn(&lab, 0), 1);
	rxlab_close(&lab);
}

static void test_links_down_up_and_deleted(void **state)
{
	(void)state;
	for (enum way way = WAY_EXPRESS; way <= WAY_MMSG; way++) {
		struct netlab_veth third;
		open_way(way);
		lab.look = NULL;
		lab.got_a = lab.got_b = 0;
		uint64_t before = rxlab_rx_drops(&lab, RXLAB_A);
		uint32_t a = 0, b = 0;
		assert_int_equal(netlab_add(&lab.net, 3, 0, &third), 0);
		assert_int_equal(rx_port_add(lab.g, third.ifindex, 11, 0), 0);
		for (unsigned i = 0; i < 40; i++) {
			a = rxlab_send(&lab.a, a, 50, 60);
			if (i < 20)
				rxlab_send(&third, 0, 50, 60);
			if (i == 5)
				assert_int_equal(netlab_set_up(&lab.net, &lab.b, false, false), 0);
			if (i == 10)
				assert_int_equal(netlab_set_up(&lab.net, &lab.b, false, true), 0);
			if (i == 20) {
				netlab_del(&lab.net, &third);
				rx_port_del(lab.g, third.ifindex);
			}
			if (i > 10)
				b = rxlab_send(&lab.b, b, 1, 60);
			rxlab_turn(&lab, 0);
		}
		rxlab_drain(&lab);
		assert_int_equal(lab.got_a + rxlab_rx_drops(&lab, RXLAB_A) - before, a);
		assert_int_equal(lab.got_a, a);
		assert_int_equal(lab.got_b, b);
		rxlab_close(&lab);
	}
}

static int setup(void **state)
{
	(void)state;
	big = malloc(FRAME_MAX);
	last.data = malloc(FRAME_MAX);
	return big && last.data ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(big);
	free(last.data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_frames),
		cmocka_unit_test(test_gso_frame),
		cmocka_unit_test(test_vlan_tag),
		cmocka_unit_test(test_wait_and_wake),
		cmocka_unit_test(test_links_down_up_and_deleted),
	};
	if (geteuid() != 0 || rxlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	int r = cmocka_run_group_tests(tests, setup, teardown);
	rxlab_stop(&lab);
	return r;
}
