// SPDX-License-Identifier: Apache-2.0
#include "harness/rxlab.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/cm.h"

#define QUIET_TURNS 30

int rxlab_start(struct rxlab *lab)
{
	memset(lab, 0, sizeof(*lab));
	lab->a.pod_sock = lab->b.pod_sock = -1;
	int r = netlab_start(&lab->net);
	if (r == 0)
		r = netlab_add(&lab->net, 1, 0, &lab->a);
	if (r == 0)
		r = netlab_add(&lab->net, 2, 0, &lab->b);
	lab->c = calloc(1, sizeof(*lab->c));
	return r == 0 && !lab->c ? -ENOMEM : r;
}

void rxlab_stop(struct rxlab *lab)
{
	netlab_del(&lab->net, &lab->a);
	netlab_del(&lab->net, &lab->b);
	netlab_stop(&lab->net);
	free(lab->c);
}

void rxlab_open(struct rxlab *lab, enum rx_mode mode, unsigned workers)
{
	struct rx_conf conf = {.netns_fd = lab->net.host_fd, .workers = workers, .mode = mode};
	struct err err = ERR_INIT;
	if (rx_group_open(&conf, &lab->g, &err) < 0)
		fail_msg("%s", err.text);
	memset(lab->c, 0, sizeof(*lab->c));
	lab->got_a = lab->got_b = lab->skip_ns = 0;
	assert_int_equal(rx_port_add(lab->g, lab->a.ifindex, RXLAB_A, 0), 0);
	assert_int_equal(rx_port_add(lab->g, lab->b.ifindex, RXLAB_B, workers - 1), 0);
}

void rxlab_close(struct rxlab *lab)
{
	rx_group_close(lab->g);
	lab->g = NULL;
	lab->look = NULL;
}

static bool wants_service(const struct rx_group *g)
{
	struct pollfd fd = {.fd = rx_group_event_fd(g), .events = POLLIN};
	return poll(&fd, 1, 0) > 0;
}

unsigned rxlab_turn(struct rxlab *lab, unsigned worker)
{
	struct pkt pkts[PKT_BURST];
	struct rx *rx = rx_group_worker(lab->g, worker);
	uint64_t now = clock_now_ns() + lab->skip_ns;
	unsigned n = rx_burst(rx, pkts, PKT_BURST, now, lab->c);
	for (unsigned i = 0; i < n; i++) {
		lab->got_a += pkts[i].in_port == RXLAB_A;
		lab->got_b += pkts[i].in_port == RXLAB_B;
		if (lab->look)
			lab->look(lab, &pkts[i]);
	}
	rx_release(rx);
	if (wants_service(lab->g))
		rx_group_service(lab->g, now);
	return n;
}

void rxlab_drain(struct rxlab *lab)
{
	uint64_t deadline = clock_deadline_ns(RXLAB_DEADLINE_MS);
	for (unsigned quiet = 0; quiet < QUIET_TURNS && clock_left_ms(deadline) > 0; quiet++) {
		for (unsigned w = 0; w < lab->g->workers; w++)
			while (rxlab_turn(lab, w) > 0)
				quiet = 0;
		rx_wait(rx_group_worker(lab->g, 0), 1);
	}
}

uint32_t rxlab_send(const struct netlab_veth *v, uint32_t number, unsigned count, uint32_t len)
{
	uint8_t frame[2048];
	for (unsigned i = 0; i < count; i++) {
		netlab_frame(frame, len, number++);
		assert_int_equal(netlab_send(v, frame, len, NULL), 0);
	}
	return number;
}

uint32_t rxlab_move_up(struct rxlab *lab, const struct netlab_veth *v, unsigned worker,
		       uint32_t number)
{
	uint64_t deadline = clock_deadline_ns(RXLAB_DEADLINE_MS);
	while (rx_port_lane(lab->g, v->ifindex) != RX_LANE_BULK && clock_left_ms(deadline) > 0) {
		number = rxlab_send(v, number, 600, 60);
		for (unsigned i = 0; i < 5; i++)
			rxlab_turn(lab, worker);
	}
	assert_int_equal(rx_port_lane(lab->g, v->ifindex), RX_LANE_BULK);
	return number;
}

void rxlab_move_down(struct rxlab *lab, const struct netlab_veth *v, unsigned worker)
{
	uint64_t deadline = clock_deadline_ns(RXLAB_DEADLINE_MS);
	while (clock_left_ms(deadline) > 0 &&
	       (rx_port_lane(lab->g, v->ifindex) != RX_LANE_EXPRESS ||
		rx_group_worker(lab->g, worker)->moved_count > 0)) {
		rxlab_turn(lab, worker);
		rx_wait(rx_group_worker(lab->g, worker), 1);
	}
	assert_int_equal(rx_port_lane(lab->g, v->ifindex), RX_LANE_EXPRESS);
}

uint64_t rxlab_drops(const struct rxlab *lab, uint16_t port, enum drop_reason reason)
{
	return atomic_load(&lab->c->port[port].drops[reason]);
}

uint64_t rxlab_rx_drops(const struct rxlab *lab, uint16_t port)
{
	uint64_t sum = 0;
	for (unsigned r = DROP_RX_TRUNCATED; r <= DROP_RX_HOLD_FULL; r++)
		sum += rxlab_drops(lab, port, r);
	return sum;
}
