// SPDX-License-Identifier: Apache-2.0
// wrap: recvmsg nl_socket_alloc
#include "harness/cm.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fdio.h"
#include "netlink/monitor.h"
#include "unit/lib/netlink/privnet.h"

static int fail_next; // errno of the next recvmsg
static bool no_socket;
static const void *forged; // bytes of the next datagram
static size_t forged_size;

ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	if (fail_next) {
		errno = fail_next;
		fail_next = 0;
		return -1;
	}
	if (forged) {
		memcpy(msg->msg_iov[0].iov_base, forged, forged_size);
		forged = NULL;
		return (ssize_t)forged_size;
	}
	return __real_recvmsg(fd, msg, flags);
}

struct nl_sock *__real_nl_socket_alloc(void);
struct nl_sock *__wrap_nl_socket_alloc(void);
struct nl_sock *__wrap_nl_socket_alloc(void)
{
	return no_socket ? NULL : __real_nl_socket_alloc();
}

struct seen {
	struct monitor *m;
	struct monitor_event last[MONITOR_RESYNC + 1];
	unsigned count[MONITOR_RESYNC + 1];
	const char *name; // count links of this name only, NULL = all
};

static void note(const struct monitor_event *event, void *arg)
{
	struct seen *s = arg;

	if (s->name && event->kind <= MONITOR_LINK_DEL && strcmp(event->link.name, s->name) != 0)
		return;
	s->count[event->kind]++;
	s->last[event->kind] = *event;
}

static void open_monitor(struct seen *s, int netns)
{
	struct err err = ERR_INIT;

	if (monitor_open(netns, note, s, &s->m, &err) != 0)
		fail_msg("%s", err.text);
}

// Reads until an event of the kind has come.
static void wait_for(struct seen *s, enum monitor_kind kind)
{
	uint64_t deadline = clock_deadline_ns(10000);

	while (s->count[kind] == 0) {
		assert_int_equal(fdio_wait(monitor_fd(s->m), POLLIN, deadline), 0);
		assert_int_equal(monitor_read(s->m), 0);
	}
}

static void test_events(void **state)
{
	struct seen s = {.name = "a"};
	struct ipprefix p;

	(void)state;
	privnet_need_root();
	int other = privnet_netns("other");
	struct rtnl *rtnl = privnet_rtnl(other);
	open_monitor(&s, other);
	assert_int_equal(monitor_read(s.m), 0);
	assert_int_equal(s.count[MONITOR_LINK_NEW], 0);
	uint32_t a = privnet_veth(rtnl, "a", "b");
	wait_for(&s, MONITOR_LINK_NEW);
	assert_int_equal(s.last[MONITOR_LINK_NEW].link.ifindex, a);
	assert_string_equal(s.last[MONITOR_LINK_NEW].link.kind, "veth");
	assert_int_equal(ipprefix_parse("10.0.0.1/24", &p), 0);
	assert_int_equal(link_addr_add(rtnl, a, &p, NULL), 0);
	wait_for(&s, MONITOR_ADDR_NEW);
	assert_int_equal(s.last[MONITOR_ADDR_NEW].addr.ifindex, a);
	assert_true(ipaddr_is_equal(&s.last[MONITOR_ADDR_NEW].addr.addr.addr, &p.addr));
	assert_int_equal(link_addr_del(rtnl, a, &p, NULL), 0);
	wait_for(&s, MONITOR_ADDR_DEL);
	privnet_del(rtnl, "a");
	wait_for(&s, MONITOR_LINK_DEL);
	assert_int_equal(s.last[MONITOR_LINK_DEL].link.ifindex, a);
	assert_int_equal(s.count[MONITOR_RESYNC], 0);
	monitor_close(s.m);
	rtnl_close(rtnl);
	close(other);
	netns_remove("other", NULL);
}

static void test_other_namespace_is_silent(void **state)
{
	struct seen s = {0};

	(void)state;
	privnet_need_root();
	int other = privnet_netns("other");
	struct rtnl *rtnl = privnet_rtnl(other);
	open_monitor(&s, -1);
	privnet_veth(rtnl, "a", "b");
	assert_int_equal(monitor_read(s.m), 0);
	assert_int_equal(s.count[MONITOR_LINK_NEW], 0);
	monitor_close(s.m);
	rtnl_close(rtnl);
	close(other);
	netns_remove("other", NULL);
}

static void set_queue(const struct monitor *m, int bytes)
{
	assert_int_equal(
		setsockopt(monitor_fd(m), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
}

// More than the queue holds: the user is told that something was lost, and events go on.
static void test_overrun(void **state)
{
	struct seen s = {0};

	(void)state;
	privnet_need_root();
	struct rtnl *rtnl = privnet_rtnl(-1);
	open_monitor(&s, -1);
	set_queue(s.m, 1);
	uint32_t a = privnet_veth(rtnl, "a", "b");
	for (int i = 0; i < 100; i++) {
		struct link_change c = {.ifindex = a, .up = i % 2, .noarp = -1};
		assert_int_equal(link_set(rtnl, &c, NULL), 0);
	}
	wait_for(&s, MONITOR_RESYNC);
	assert_int_equal(monitor_read(s.m), 0);
	set_queue(s.m, 1 << 20);
	privnet_del(rtnl, "a");
	wait_for(&s, MONITOR_LINK_DEL);
	monitor_close(s.m);
	rtnl_close(rtnl);
}

static void test_receive_errors(void **state)
{
	struct seen s = {0};

	(void)state;
	open_monitor(&s, -1);
	fail_next = ENOBUFS;
	assert_int_equal(monitor_read(s.m), 0);
	assert_int_equal(s.count[MONITOR_RESYNC], 1);
	fail_next = EBADF;
	assert_int_equal(monitor_read(s.m), -EBADF);
	assert_int_equal(s.count[MONITOR_RESYNC], 1);
	monitor_close(s.m);
}

// A message that cannot be read may have been important: ask for a new dump.
static void test_broken_messages(void **state)
{
	static const struct nlmsghdr rows[] = {
		{.nlmsg_len = 16, .nlmsg_type = RTM_NEWLINK},
		{.nlmsg_len = 16, .nlmsg_type = RTM_DELLINK},
		{.nlmsg_len = 16, .nlmsg_type = RTM_NEWADDR},
		{.nlmsg_len = 16, .nlmsg_type = RTM_DELADDR},
	};
	static const struct nlmsghdr skipped[] = {
		{.nlmsg_len = 16, .nlmsg_type = RTM_NEWROUTE},
		{.nlmsg_len = 16, .nlmsg_type = NLMSG_NOOP},
		{.nlmsg_len = 4000, .nlmsg_type = RTM_NEWLINK}, // longer than what came
	};
	struct seen s = {0};

	(void)state;
	open_monitor(&s, -1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		forged = &rows[i];
		forged_size = sizeof(rows[i]);
		assert_int_equal(monitor_read(s.m), 0);
		assert_int_equal(s.count[MONITOR_RESYNC], i + 1);
	}
	for (size_t i = 0; i < ARRAY_LEN(skipped); i++) {
		forged = &skipped[i];
		forged_size = sizeof(skipped[i]);
		assert_int_equal(monitor_read(s.m), 0);
	}
	assert_int_equal(s.count[MONITOR_RESYNC], ARRAY_LEN(rows));
	monitor_close(s.m);
}

static void test_open_failures(void **state)
{
	struct monitor *m = NULL;
	struct err err = ERR_INIT;

	(void)state;
	no_socket = true;
	assert_int_equal(monitor_open(-1, note, NULL, &m, &err), -ENOMEM);
	no_socket = false;
	assert_string_equal(err.text, "open a netlink monitor: Cannot allocate memory");
	assert_int_equal(monitor_open(1 << 20, note, NULL, &m, &err), -EBADF);
	assert_null(m);
	monitor_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_other_namespace_is_silent),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_receive_errors),
		cmocka_unit_test(test_broken_messages),
		cmocka_unit_test(test_open_failures),
	};
	return cmocka_run_group_tests(tests, privnet_enter, NULL);
}
