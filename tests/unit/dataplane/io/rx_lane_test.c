// SPDX-License-Identifier: Apache-2.0
// Lane changes under load: a port that floods moves to the ring and comes back, and no frame
// overtakes another, gets lost uncounted, or goes to the wrong worker.
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cm.h"
#include "harness/netlab.h"
#include "io/rx.h"

#define PORT_A 5
#define PORT_B 9
#define DEADLINE_MS 20000

static struct netlab lab;
static struct netlab_veth veth_a, veth_b;
static struct counters *counters;

// What a sender thread does: count frames, as fast as it can or gap_ns apart.
struct step {
	uint32_t count;
	uint64_t gap_ns;
	uint32_t len;
};

struct sender {
	const struct netlab_veth *veth;
	const struct step *steps;
	unsigned step_count;
	_Atomic uint32_t sent;
	_Atomic bool done;
	pthread_t thread;
};

static void *sender_main(void *arg)
{
	struct sender *s = arg;
	static _Thread_local uint8_t frame[2048];
	uint64_t next = clock_now_ns();
	for (unsigned i = 0; i < s->step_count; i++) {
		for (uint32_t k = 0; k < s->steps[i].count; k++) {
			while (s->steps[i].gap_ns && clock_now_ns() < next)
				;
			next = clock_now_ns() + s->steps[i].gap_ns;
			netlab_frame(frame, s->steps[i].len, s->sent);
			if (netlab_send(s->veth, frame, s->steps[i].len, NULL) == 0)
				s->sent++;
		}
	}
	s->done = true;
	return NULL;
}

static void start(struct sender *s)
{
	assert_int_equal(pthread_create(&s->thread, NULL, sender_main, s), 0);
}

// What came out of one port.
struct seen {
	uint32_t next; // smallest number that may come
	uint64_t frames;
	uint64_t reordered;
	unsigned to_bulk, to_express; // lane changes
	enum rx_lane lane;
};

static void look(struct seen *s, const struct pkt *p)
{
	uint32_t number = netlab_number(p->data);
	s->reordered += number < s->next;
	s->next = number + 1;
	s->frames++;
}

static void look_at_lane(struct seen *s, struct rx_group *g, uint32_t ifindex)
{
	enum rx_lane lane = rx_port_lane(g, ifindex);
	s->to_bulk += lane == RX_LANE_BULK && s->lane == RX_LANE_EXPRESS;
	s->to_express += lane == RX_LANE_EXPRESS && s->lane == RX_LANE_BULK;
	s->lane = lane;
}

static bool wants_service(struct rx_group *g)
{
	struct pollfd fd = {.fd = rx_group_event_fd(g), .events = POLLIN};
	return poll(&fd, 1, 0) > 0;
}

static unsigned turn(struct rx_group *g, struct seen *a, struct seen *b)
{
	struct pkt pkts[PKT_BURST];
	struct rx *rx = rx_group_worker(g, 0);
	unsigned n = rx_burst(rx, pkts, PKT_BURST, clock_now_ns(), counters);
	for (unsigned i = 0; i < n; i++)
		look(pkts[i].in_port == PORT_A ? a : b, &pkts[i]);
	rx_release(rx);
	if (wants_service(g))
		rx_group_service(g, clock_now_ns());
	look_at_lane(a, g, veth_a.ifindex);
	look_at_lane(b, g, veth_b.ifindex);
	return n;
}

static struct rx_group *open_group(void)
{
	struct rx_conf conf = {.netns_fd = lab.host_fd, .workers = 1, .mode = RX_MODE_LANES};
	struct rx_group *g = NULL;
	struct err err = ERR_INIT;
	if (rx_group_open(&conf, &g, &err) < 0)
		fail_msg("%s", err.text);
	memset(counters, 0, sizeof(*counters));
	assert_int_equal(rx_port_add(g, veth_a.ifindex, PORT_A, 0), 0);
	assert_int_equal(rx_port_add(g, veth_b.ifindex, PORT_B, 0), 0);
	return g;
}

// Reads until both senders are done and nothing came for a while, sleeping as a worker does.
static void drain(struct rx_group *g, struct sender *sa, struct sender *sb, struct seen *a,
		  struct seen *b)
{
	uint64_t deadline = clock_deadline_ns(DEADLINE_MS), quiet = 0;
	while (clock_left_ms(deadline) > 0) {
		uint64_t now = clock_now_ns();
		if (turn(g, a, b) > 0 || !sa->done || (sb && !sb->done))
			quiet = now;
		else if (now - quiet > 60 * NS_PER_MS)
			break;
		else
			rx_wait(rx_group_worker(g, 0), 1);
	}
	pthread_join(sa->thread, NULL);
	if (sb)
		pthread_join(sb->thread, NULL);
}

static uint64_t receive_drops(uint16_t port)
{
	uint64_t sum = 0;
	for (unsigned r = DROP_RX_TRUNCATED; r <= DROP_RX_HOLD_FULL; r++)
		sum += atomic_load(&counters->port[port].drops[r]);
	return sum;
}

static void check_sum(const struct seen *a, uint32_t sent)
{
	uint64_t lost = receive_drops(PORT_A), shared = receive_drops(0);
	if (a->frames + lost + shared != sent)
		fail_msg("sent %u, got %lu, dropped %lu + %lu", sent, a->frames, lost, shared);
	assert_int_equal(a->reordered, 0);
	assert_int_equal(counters->port[PORT_A].rx_packets, a->frames);
}

// Frames arrive while this thread sends, so the lanes see exactly what is meant here.
static uint32_t send_numbered(uint32_t number, unsigned count, uint32_t len)
{
	uint8_t frame[2048];
	for (unsigned i = 0; i < count; i++) {
		netlab_frame(frame, len, number);
		assert_int_equal(netlab_send(&veth_a, frame, len, NULL), 0);
		number++;
	}
	return number;
}

static uint32_t move_up(struct rx_group *g, struct seen *a, uint32_t number)
{
	uint64_t deadline = clock_deadline_ns(DEADLINE_MS);
	struct seen b = {0};
	unsigned before = a->to_bulk;
	while (a->to_bulk == before && clock_left_ms(deadline) > 0) {
		number = send_numbered(number, 600, 60);
		for (unsigned i = 0; i < 5; i++)
			turn(g, a, &b);
	}
	assert_int_equal(a->to_bulk, before + 1);
	return number;
}

// A frame per read: slow enough to come down, never so slow that nothing could overtake.
static uint32_t move_down(struct rx_group *g, struct seen *a, uint32_t number)
{
	uint64_t deadline = clock_deadline_ns(DEADLINE_MS), next = 0;
	struct seen b = {0};
	unsigned before = a->to_express;
	while (a->to_express == before && clock_left_ms(deadline) > 0) {
		uint64_t now = clock_now_ns();
		if (now >= next) {
			number = send_numbered(number, 1, 60);
			next = now + 30 * NS_PER_US;
		}
		turn(g, a, &b);
	}
	assert_int_equal(a->to_express, before + 1);
	return number;
}

static void test_port_moves_up_and_down_in_order(void **state)
{
	(void)state;
	struct rx_group *g = open_group();
	struct seen a = {0}, b = {0};
	uint32_t number = 0;
	for (unsigned i = 0; i < 4; i++) {
		number = move_up(g, &a, number);
		number = send_numbered(number, 500, 60);
		turn(g, &a, &b);
		number = move_down(g, &a, number);
		number = send_numbered(number, 100, 60);
	}
	uint64_t deadline = clock_deadline_ns(DEADLINE_MS);
	while (a.frames + receive_drops(PORT_A) < number && clock_left_ms(deadline) > 0)
		turn(g, &a, &b);
	check_sum(&a, number);
	assert_int_equal(receive_drops(PORT_A), 0);
	rx_group_close(g);
}

static void test_stream_keeps_order_under_load(void **state)
{
	(void)state;
	static const struct step steps[] = {
		{60000, 0, 60},      {3000, 30000, 100}, {60000, 0, 64},
		{3000, 30000, 1000}, {60000, 0, 200},    {3000, 30000, 60},
	};
	struct rx_group *g = open_group();
	struct sender s = {.veth = &veth_a, .steps = steps, .step_count = 6};
	struct seen a = {0}, b = {0};
	start(&s);
	drain(g, &s, NULL, &a, &b);
	check_sum(&a, s.sent);
	assert_int_equal(a.to_bulk, a.to_express);
	rx_group_close(g);
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
		cmocka_unit_test(test_port_moves_up_and_down_in_order),
		cmocka_unit_test(test_stream_keeps_order_under_load),
	};
	if (geteuid() != 0 || netlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
