// SPDX-License-Identifier: Apache-2.0
// wrap: poll recvmsg clock_deadline_ns nl_socket_alloc nl_connect
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "base/cleanup.h"
#include "netlink/rtnl_msg.h"
#include "unit/lib/netlink/privnet.h"

static struct {
	bool silent;      // poll sees nothing, the deadline has passed
	int eintr, again; // recvmsg: interruptions, then nothing there after all
	int error;        // recvmsg: errno, once
	int interrupt;    // dumps that are marked as interrupted
	bool no_memory, no_connect;
} sys;

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return sys.silent ? 0 : __real_poll(fds, count, timeout);
}

uint64_t __real_clock_deadline_ns(uint64_t ms);
uint64_t __wrap_clock_deadline_ns(uint64_t ms);
uint64_t __wrap_clock_deadline_ns(uint64_t ms)
{
	return sys.silent ? 0 : __real_clock_deadline_ns(ms);
}

struct nl_sock *__real_nl_socket_alloc(void);
struct nl_sock *__wrap_nl_socket_alloc(void);
struct nl_sock *__wrap_nl_socket_alloc(void)
{
	return sys.no_memory ? NULL : __real_nl_socket_alloc();
}

int __real_nl_connect(struct nl_sock *sock, int protocol);
int __wrap_nl_connect(struct nl_sock *sock, int protocol);
int __wrap_nl_connect(struct nl_sock *sock, int protocol)
{
	if (!sys.no_connect)
		return __real_nl_connect(sock, protocol);
	errno = EMFILE;
	return -NLE_FAILURE;
}

static bool fails(int *count, int err_no)
{
	if (*count == 0)
		return false;
	--*count;
	errno = err_no;
	return true;
}

// Marks the last message of a dump.
static void mark_interrupted(struct msghdr *msg, ssize_t size)
{
	struct nlmsghdr *h = msg->msg_iov[0].iov_base;

	for (int left = (int)size; nlmsg_ok(h, left); h = nlmsg_next(h, &left)) {
		if (h->nlmsg_type != NLMSG_DONE || sys.interrupt == 0)
			continue;
		sys.interrupt--;
		h->nlmsg_flags |= NLM_F_DUMP_INTR;
	}
}

ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	int once = sys.error != 0;

	if (fails(&sys.eintr, EINTR) || fails(&sys.again, EAGAIN))
		return -1;
	if (fails(&once, sys.error)) {
		sys.error = 0;
		return -1;
	}
	ssize_t n = __real_recvmsg(fd, msg, flags);
	if (n > 0)
		mark_interrupted(msg, n);
	return n;
}

static int setup(void **state)
{
	(void)state;
	memset(&sys, 0, sizeof(sys));
	return 0;
}

static int get_lo(struct rtnl *rtnl, struct err *err)
{
	struct link_info info = {0};
	int r = link_get_by_name(rtnl, "lo", &info, err);

	if (r == 0)
		assert_int_equal(info.ifindex, 1);
	return r;
}

// ---- the socket ----

static void test_open(void **state)
{
	struct rtnl *rtnl = NULL;
	struct err err = ERR_INIT;

	(void)state;
	sys.no_memory = true;
	assert_int_equal(rtnl_open(&rtnl, &err), -ENOMEM);
	sys.no_memory = false;
	sys.no_connect = true;
	assert_int_equal(rtnl_open(&rtnl, &err), -EMFILE);
	assert_string_equal(err.text, "open a netlink socket: Too many open files");
	sys.no_connect = false;
	assert_int_equal(rtnl_open_in(-1, &rtnl, &err), -EBADF);
	assert_string_equal(err.text, "enter the network namespace: Bad file descriptor");
	assert_null(rtnl);
	rtnl_close(NULL);
	rtnl_closep(&rtnl);
}

static void test_open_in(void **state)
{
	(void)state;
	privnet_need_root();
	int other = privnet_netns("other");
	struct rtnl *here = privnet_rtnl(-1), *there = privnet_rtnl(other), *none = NULL;
	struct err err = ERR_INIT;

	assert_true(netns_is_same(-1, -1));
	privnet_veth(there, "t0", "t1");
	struct link_info info;
	assert_int_equal(link_get_by_name(here, "t0", &info, NULL), LINK_NOT_FOUND);
	assert_int_equal(link_get_by_name(there, "t0", &info, NULL), 0);
	// Told once, with the reason that counts.
	sys.no_connect = true;
	assert_int_equal(rtnl_open_in(other, &none, &err), -EMFILE);
	assert_string_equal(err.text, "open a netlink socket: Too many open files");
	rtnl_closep(&here);
	rtnl_closep(&there);
	close(other);
	netns_remove("other", NULL);
}

static void test_interruptions(void **state)
{
	(void)state;
	struct rtnl *rtnl = privnet_rtnl(-1);

	sys.eintr = 3;
	sys.again = 2;
	assert_int_equal(get_lo(rtnl, NULL), 0);
	rtnl_close(rtnl);
}

// A request that was given up: its late answer must not be taken for the next one's.
static void test_late_reply(void **state)
{
	struct link_info info;
	struct err err = ERR_INIT;

	(void)state;
	struct rtnl *rtnl = privnet_rtnl(-1);
	sys.silent = true;
	assert_int_equal(link_get_by_name(rtnl, "absent", &info, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "read link `absent`: Connection timed out");
	sys.silent = false;
	assert_int_equal(get_lo(rtnl, &err), 0);
	assert_int_equal(link_get_by_name(rtnl, "absent", &info, &err), LINK_NOT_FOUND);
	rtnl_close(rtnl);
}

static void test_receive_errors(void **state)
{
	(void)state;
	struct rtnl *rtnl = privnet_rtnl(-1);
	struct err err = ERR_INIT;

	sys.error = ENOBUFS;
	assert_int_equal(get_lo(rtnl, &err), -ENOBUFS);
	assert_int_equal(get_lo(rtnl, &err), 0);
	rtnl_close(rtnl);
}

static int count_link(const struct link_info *info, void *arg)
{
	(void)info;
	++*(int *)arg;
	return 0;
}

static void test_interrupted_dump(void **state)
{
	int once = 0, links = 0;
	struct err err = ERR_INIT;

	(void)state;
	struct rtnl *rtnl = privnet_rtnl(-1);
	assert_int_equal(link_foreach(rtnl, count_link, &once, &err), 0);
	assert_true(once > 0);
	// Read again, and nobody sees a link twice.
	sys.interrupt = 4;
	assert_int_equal(link_foreach(rtnl, count_link, &links, &err), 0);
	assert_int_equal(links, once);
	sys.interrupt = 5;
	assert_int_equal(link_foreach(rtnl, count_link, &links, &err), -EAGAIN);
	assert_int_equal(links, once);
	assert_int_equal(sys.interrupt, 0);
	rtnl_close(rtnl);
}

static int nested(const struct link_info *info, void *arg)
{
	struct link_info same;

	assert_int_equal(link_get_by_index(arg, info->ifindex, &same, NULL), 0);
	assert_string_equal(same.name, info->name);
	return 3;
}

static void test_call_inside_dump(void **state)
{
	(void)state;
	struct rtnl *rtnl = privnet_rtnl(-1);
	struct err err = ERR_INIT;

	assert_int_equal(link_foreach(rtnl, nested, rtnl, &err), 3);
	assert_string_equal(err.text, "");
	rtnl_close(rtnl);
}

static void test_failed_request(void **state)
{
	(void)state;
	struct rtnl *rtnl = privnet_rtnl(-1);
	struct ifinfomsg ifi = {0};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;

	rtnl_req_init(&req, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	req.failed = true;
	assert_int_equal(rtnl_call(rtnl, &req, NULL, NULL), -ENOMEM);
	rtnl_close(rtnl);
}

// Only the kernel is heard: another process may send to our port.
static void test_strangers(void **state)
{
	struct nl_sock *us = NULL, *other = NULL;
	struct nlmsghdr h = {.nlmsg_len = sizeof(h), .nlmsg_type = NLMSG_DONE};
	char buf[64];

	(void)state;
	privnet_need_root();
	assert_int_equal(rtnl_sock_open(&us), 0);
	assert_int_equal(rtnl_sock_open(&other), 0);
	int fd = nl_socket_get_fd(us);
	assert_int_equal(rtnl_sock_recv(fd, buf, sizeof(buf)), -EAGAIN);
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = nl_socket_get_local_port(us)};
	assert_int_equal(sendto(nl_socket_get_fd(other), &h, sizeof(h), 0, (void *)&to, sizeof(to)),
			 sizeof(h));
	assert_int_equal(rtnl_sock_recv(fd, buf, sizeof(buf)), 0);
	assert_int_equal(rtnl_sock_recv(fd, buf, sizeof(buf)), -EAGAIN);
	// From the kernel, and larger than the buffer.
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct {
		struct nlmsghdr h;
		struct ifinfomsg ifi;
	} get = {{sizeof(get), RTM_GETLINK, NLM_F_REQUEST, 1, 0}, {.ifi_index = 1}};
	assert_int_equal(sendto(fd, &get, sizeof(get), 0, (void *)&kernel, sizeof(kernel)),
			 sizeof(get));
	assert_int_equal(rtnl_sock_recv(fd, buf, sizeof(buf)), -EMSGSIZE);
	nl_socket_free(us);
	nl_socket_free(other);
}

// ---- replies ----

struct reply {
	_Alignas(struct nlmsghdr) char bytes[512];
	size_t size;
};

static struct nlmsghdr *add_message(struct reply *r, int type, int flags, const void *data,
				    size_t size)
{
	struct nlmsghdr *h = (void *)(r->bytes + r->size);

	*h = (struct nlmsghdr){.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + size),
			       .nlmsg_seq = 5,
			       .nlmsg_type = (uint16_t)type,
			       .nlmsg_flags = (uint16_t)flags};
	memcpy(NLMSG_DATA(h), data, size);
	r->size += NLMSG_ALIGN(h->nlmsg_len);
	return h;
}

// nlmsgerr (or only its number for DONE), the payload of the request, a text attribute.
static struct reply make_error(int type, int error, size_t payload, const char *text)
{
	struct reply r = {0};
	struct nlmsgerr e = {.error = error, .msg = {.nlmsg_len = (uint32_t)(16 + payload)}};
	char data[256] = {0};
	size_t size = type == NLMSG_DONE ? sizeof(error) : sizeof(e) + NLMSG_ALIGN(payload);

	memcpy(data, &e, type == NLMSG_DONE ? sizeof(error) : sizeof(e));
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + strlen(text) + 1),
			   .nla_type = NLMSGERR_ATTR_MSG};
	memcpy(data + size, &a, sizeof(a));
	memcpy(data + size + NLA_HDRLEN, text, strlen(text) + 1);
	size += NLA_ALIGN(a.nla_len);
	add_message(&r, type, NLM_F_ACK_TLVS | (payload == 0 ? NLM_F_CAPPED : 0), data, size);
	return r;
}

static struct rtnl_exchange feed(const void *bytes, size_t size, rtnl_fn *fn, void *arg)
{
	struct rtnl_exchange x = {.seq = 5, .fn = fn, .arg = arg};
	// Exactly as large as what came, so that the sanitizer sees every step beyond.
	void *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, bytes, size);
	rtnl_exchange_feed(&x, copy, size);
	free(copy);
	return x;
}

static void test_errors_and_texts(void **state)
{
	static const struct {
		int type, error;
		size_t payload;
		int want;
	} rows[] = {
		{NLMSG_ERROR, 0, 0, 0},
		{NLMSG_ERROR, -ENODEV, 0, -ENODEV},
		{NLMSG_ERROR, -EINVAL, 30, -EINVAL},
		{NLMSG_ERROR, 5, 0, -EBADMSG},
		{NLMSG_ERROR, -100000, 0, -EBADMSG},
		{NLMSG_DONE, 0, 0, 0},
		{NLMSG_DONE, -EPERM, 0, -EPERM},
		{NLMSG_DONE, 17, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct reply r = make_error(rows[i].type, rows[i].error, rows[i].payload, "why");
		struct rtnl_exchange x = feed(r.bytes, r.size, NULL, NULL);
		if (!x.done || x.result != rows[i].want)
			fail_msg("row %zu: %d", i, x.result);
		assert_string_equal(x.ack, "why");
	}
}

static int note_type(const struct nlmsghdr *h, void *arg)
{
	*(int *)arg = *(int *)arg * 100 + h->nlmsg_type;
	return h->nlmsg_type == 19 ? -7 : 0;
}

static void test_sequence(void **state)
{
	struct reply r = {0};
	int seen = 0;

	(void)state;
	add_message(&r, NLMSG_NOOP, 0, "", 0);
	add_message(&r, 16, 0, "abc", 3);
	add_message(&r, 17, 0, "", 0)->nlmsg_seq = 4; // not ours
	add_message(&r, 18, NLM_F_DUMP_INTR, "x", 1);
	struct rtnl_exchange x = feed(r.bytes, r.size, note_type, &seen);
	assert_int_equal(seen, 1618);
	assert_true(x.interrupted && !x.done);
	// What fn returns ends it, and nothing behind is looked at.
	add_message(&r, 19, 0, "", 0);
	add_message(&r, 20, 0, "", 0);
	seen = 0;
	x = feed(r.bytes, r.size, note_type, &seen);
	assert_int_equal(seen, 161819);
	assert_true(x.done);
	assert_int_equal(x.result, -7);
	struct reply lost = {0};
	add_message(&lost, NLMSG_OVERRUN, 0, "", 0);
	assert_int_equal(feed(lost.bytes, lost.size, NULL, NULL).result, -ENOBUFS);
}

// Every cut and every byte changed: no read outside, an error text that ends.
static void test_mutations(void **state)
{
	static const uint8_t values[] = {0, 1, 3, 4, 0x7f, 0x80, 0xff};
	struct reply rows[] = {
		make_error(NLMSG_ERROR, -EINVAL, 0, "text"),
		make_error(NLMSG_ERROR, -EINVAL, 30, "text"),
		make_error(NLMSG_DONE, -EINVAL, 0, "text"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (size_t cut = 0; cut <= rows[i].size; cut++) {
			struct reply r = rows[i];
			feed(r.bytes, cut, NULL, NULL);
			((struct nlmsghdr *)r.bytes)->nlmsg_len = (uint32_t)cut;
			feed(r.bytes, cut, NULL, NULL);
		}
		for (size_t at = 0; at < rows[i].size * ARRAY_LEN(values); at++) {
			struct reply r = rows[i];
			r.bytes[at / ARRAY_LEN(values)] = (char)values[at % ARRAY_LEN(values)];
			struct rtnl_exchange x = feed(r.bytes, r.size, NULL, NULL);
			assert_true(strnlen(x.ack, sizeof(x.ack)) < sizeof(x.ack));
			assert_true(x.result <= 0 && x.result >= -4095);
		}
	}
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open),
		TEST(test_open_in),
		TEST(test_interruptions),
		TEST(test_late_reply),
		TEST(test_receive_errors),
		TEST(test_interrupted_dump),
		TEST(test_call_inside_dump),
		TEST(test_failed_request),
		TEST(test_strangers),
		TEST(test_errors_and_texts),
		TEST(test_sequence),
		TEST(test_mutations),
	};
	return cmocka_run_group_tests(tests, privnet_enter, NULL);
}
