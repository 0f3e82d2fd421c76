// SPDX-License-Identifier: Apache-2.0
// wrap: sendmmsg sendmsg
// Sending by a veth: what the kernel refuses costs the refused frame only, everything is counted,
// and no state of the link makes a burst take many calls.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "harness/cm.h"
#include "harness/netlab.h"
#include "io/veth_port.h"
#include "io/veth_tx.h"

#define PORT_ID 7
#define DEADLINE_MS 5000
#define SLOT 2048

static struct netlab lab;
static struct netlab_veth veth;
static struct counters *counters;
static struct port *port;
static uint8_t mem[PKT_BURST][SLOT];

// What the next calls of the kernel do.
static struct {
	unsigned calls;
	unsigned sent;       // messages that went through, of the burst under test
	unsigned fail_at;    // message that fails ...
	unsigned fail_count; // ... so many times
	int fail_errno;
	unsigned most; // a call sends at most so many, 0 = all
	bool no_sendmmsg;
} kernel;

int __real_sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

static bool fails_now(void)
{
	if (kernel.fail_count == 0 || kernel.sent != kernel.fail_at)
		return false;
	kernel.fail_count--;
	errno = kernel.fail_errno;
	return true;
}

// As __sys_sendmmsg: an error behind the first message is not stored, the next call reports it.
int __wrap_sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
	kernel.calls++;
	if (kernel.no_sendmmsg) {
		errno = ENOSYS;
		return -1;
	}
	if (fails_now())
		return -1;
	if (kernel.fail_count > 0 && kernel.sent < kernel.fail_at &&
	    kernel.fail_at < kernel.sent + n)
		n = kernel.fail_at - kernel.sent;
	if (kernel.most > 0 && n > kernel.most)
		n = kernel.most;
	int r = __real_sendmmsg(fd, msgs, n, flags);
	kernel.sent += r > 0 ? (unsigned)r : 0;
	return r;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	kernel.calls++;
	if (fails_now())
		return -1;
	ssize_t r = __real_sendmsg(fd, msg, flags);
	kernel.sent += r >= 0;
	return r;
}

static uint64_t drops(enum drop_reason reason)
{
	return atomic_load(&counters->port[PORT_ID].drops[reason]);
}

static uint64_t all_drops(void)
{
	uint64_t sum = 0;
	for (unsigned r = 0; r < DROP_COUNT; r++)
		sum += drops(r);
	return sum;
}

static unsigned send_lens(const uint32_t *lens, unsigned n)
{
	struct tx_frame frames[PKT_BURST];
	memset(counters, 0, sizeof(*counters));
	kernel.calls = kernel.sent = 0;
	for (unsigned i = 0; i < n; i++) {
		frames[i] = (struct tx_frame){.data = mem[i] + PKT_HEADROOM, .len = lens[i]};
		netlab_frame(frames[i].data, lens[i] < 60 ? 60 : lens[i], i);
	}
	unsigned sent = port->ops->tx_burst(port, 0, frames, n, counters);
	assert_int_equal(sent + all_drops(), n);
	assert_int_equal(counters->port[PORT_ID].tx_packets, sent);
	return sent;
}

static unsigned send_same(unsigned n)
{
	uint32_t lens[PKT_BURST];
	for (unsigned i = 0; i < n; i++)
		lens[i] = 100;
	return send_lens(lens, n);
}

// The pod gets the frames of the numbers that `missing` does not name, in order.
static void expect_frames(unsigned n, uint64_t missing)
{
	uint8_t buf[SLOT];
	for (uint32_t i = 0; i < n; i++) {
		if (missing >> i & 1)
			continue;
		assert_true(netlab_recv(&veth, buf, sizeof(buf)) > 0);
		assert_int_equal(netlab_number(buf + VNET_HDR_LEN), i);
	}
}

static const struct {
	const char *name;
	unsigned n;
	uint32_t lens[5];
	uint64_t missing; // bits
	enum drop_reason reason;
} bad_frames[] = {
	{"none", 3, {60, 1514, 14 + 46}, 0, DROP_TX_TOO_BIG},
	{"longer than the MTU", 4, {60, 60, 1519, 60}, 1 << 2, DROP_TX_TOO_BIG},
	{"longer, first", 3, {1519, 60, 60}, 1 << 0, DROP_TX_TOO_BIG},
	{"longer, alone", 1, {1519}, 1 << 0, DROP_TX_TOO_BIG},
	{"shorter than a header", 3, {60, 10, 60}, 1 << 1, DROP_TX_BAD_FRAME},
	{"shorter, last", 2, {60, 10}, 1 << 1, DROP_TX_BAD_FRAME},
	{"several", 5, {1519, 1519, 60, 1519, 60}, 1 << 0 | 1 << 1 | 1 << 3, DROP_TX_TOO_BIG},
};

static void test_bad_frame_costs_one_frame(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(bad_frames); i++) {
		unsigned n = bad_frames[i].n;
		unsigned bad = (unsigned)__builtin_popcountll(bad_frames[i].missing);
		if (send_lens(bad_frames[i].lens, n) != n - bad ||
		    drops(bad_frames[i].reason) != bad)
			fail_msg("%s", bad_frames[i].name);
		expect_frames(n, bad_frames[i].missing);
	}
}

static const struct {
	int err_no;
	unsigned times;
	unsigned lost; // of 8
	enum drop_reason reason;
} errors[] = {
	{EAGAIN, 1, 0, DROP_TX_QUEUE_FULL},  {EAGAIN, 2, 1, DROP_TX_QUEUE_FULL},
	{ENOBUFS, 1, 1, DROP_TX_QUEUE_FULL}, {EMSGSIZE, 1, 1, DROP_TX_TOO_BIG},
	{EINVAL, 1, 1, DROP_TX_BAD_FRAME},   {ENOMEM, 1, 1, DROP_TX_ERROR},
};

// Each error at each place, behind partial sends of every size.
static void test_error_at_every_index(void **state)
{
	(void)state;
	for (unsigned e = 0; e < ARRAY_LEN(errors); e++) {
		for (unsigned at = 0; at < 8; at++) {
			for (unsigned most = 0; most < 4; most++) {
				kernel.fail_at = at;
				kernel.fail_count = errors[e].times;
				kernel.fail_errno = errors[e].err_no;
				kernel.most = most;
				assert_int_equal(send_same(8), 8 - errors[e].lost);
				assert_int_equal(drops(errors[e].reason), errors[e].lost);
				expect_frames(8, errors[e].lost ? 1ull << at : 0);
			}
		}
	}
	memset(&kernel, 0, sizeof(kernel));
}

static void test_states_of_the_link_cost_one_call(void **state)
{
	(void)state;
	static const struct {
		int err_no;
		enum drop_reason reason;
		bool gone;
	} cases[] = {
		{ENETDOWN, DROP_TX_LINK_DOWN, false},
		{ENXIO, DROP_TX_LINK_GONE, true},
		{ENODEV, DROP_TX_LINK_GONE, true},
	};
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		for (unsigned at = 0; at < 8; at++) {
			atomic_store(&port->link_gone, false);
			kernel.fail_at = at;
			kernel.fail_count = 100;
			kernel.fail_errno = cases[i].err_no;
			assert_int_equal(send_same(8), at);
			assert_int_equal(drops(cases[i].reason), 8 - at);
			assert_int_equal(atomic_load(&port->link_gone), cases[i].gone);
			assert_true(kernel.calls <= 2);
			expect_frames(at, 0);
		}
	}
	memset(&kernel, 0, sizeof(kernel));
	atomic_store(&port->link_gone, false);
}

static void test_endless_full_queue_is_bounded(void **state)
{
	(void)state;
	static const int errnos[] = {EAGAIN, ENOBUFS};
	for (unsigned i = 0; i < ARRAY_LEN(errnos); i++) {
		kernel.fail_at = 0;
		kernel.fail_count = 1000;
		kernel.fail_errno = errnos[i];
		assert_int_equal(send_same(PKT_BURST), 0);
		assert_int_equal(drops(DROP_TX_QUEUE_FULL), PKT_BURST);
		assert_true(kernel.calls <= PKT_BURST + 1);
	}
	memset(&kernel, 0, sizeof(kernel));
}

static void test_without_sendmmsg(void **state)
{
	(void)state;
	kernel.no_sendmmsg = true;
	assert_int_equal(send_same(5), 5);
	assert_int_equal(kernel.calls, 6);
	expect_frames(5, 0);
	assert_int_equal(send_same(5), 5); // it is not asked again
	assert_int_equal(kernel.calls, 5);
	expect_frames(5, 0);
	static const uint32_t lens[] = {60, 1519, 60};
	assert_int_equal(send_lens(lens, 3), 2);
	expect_frames(3, 1 << 1);
	memset(&kernel, 0, sizeof(kernel));
	((struct veth_io *)port->io)->tx[0].single = false;
}

static void test_peer_down_and_up(void **state)
{
	(void)state;
	uint64_t deadline = clock_deadline_ns(DEADLINE_MS);
	assert_int_equal(netlab_set_up(&lab, &veth, true, false), 0);
	// The kernel tells the host end about its carrier a moment later.
	do {
		assert_int_equal(send_same(PKT_BURST), 0);
	} while (drops(DROP_TX_PEER_DOWN) != PKT_BURST && clock_left_ms(deadline) > 0);
	assert_int_equal(drops(DROP_TX_PEER_DOWN), PKT_BURST);
	assert_true(kernel.calls <= 2);
	assert_int_equal(send_same(1), 0);
	assert_int_equal(drops(DROP_TX_PEER_DOWN), 1);
	assert_int_equal(netlab_set_up(&lab, &veth, true, true), 0);
	assert_int_equal(send_same(8), 8);
	netlab_forget_error(&veth);
	expect_frames(8, 0);
}

static void test_link_down_and_up(void **state)
{
	(void)state;
	assert_int_equal(netlab_set_up(&lab, &veth, false, false), 0);
	assert_int_equal(send_same(PKT_BURST), 0);
	assert_int_equal(drops(DROP_TX_LINK_DOWN), PKT_BURST);
	assert_int_equal(kernel.calls, 1);
	assert_int_equal(netlab_set_up(&lab, &veth, false, true), 0);
	assert_int_equal(send_same(8), 8);
	netlab_forget_error(&veth);
	expect_frames(8, 0);
	assert_false(atomic_load(&port->link_gone));
}

static void test_link_deleted(void **state)
{
	(void)state;
	netlab_del(&lab, &veth);
	assert_int_equal(send_same(PKT_BURST), 0);
	assert_int_equal(drops(DROP_TX_LINK_GONE), PKT_BURST);
	assert_int_equal(kernel.calls, 1);
	assert_true(atomic_load(&port->link_gone));
}

static int setup(void **state)
{
	struct err err = ERR_INIT;
	(void)state;
	counters = calloc(1, sizeof(*counters));
	port = calloc(1, sizeof(*port));
	if (!counters || !port || netlab_add(&lab, 1, 0, &veth) < 0)
		return -1;
	port->id = PORT_ID;
	port->ifindex = veth.ifindex;
	if (veth_port_open(port, lab.host_fd, 1, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	port_free(port);
	netlab_stop(&lab);
	free(counters);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_frame_costs_one_frame),
		cmocka_unit_test(test_error_at_every_index),
		cmocka_unit_test(test_states_of_the_link_cost_one_call),
		cmocka_unit_test(test_endless_full_queue_is_bounded),
		cmocka_unit_test(test_without_sendmmsg),
		cmocka_unit_test(test_peer_down_and_up),
		cmocka_unit_test(test_link_down_and_up),
		cmocka_unit_test(test_link_deleted), // last: the link is gone
	};
	if (geteuid() != 0 || netlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
