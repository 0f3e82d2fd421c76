// SPDX-License-Identifier: Apache-2.0
#include "netlink/rtnl.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "netlink/netns.h"
#include "netlink/rtnl_msg.h"

#define CALL_TIMEOUT_MS 5000
#define DUMP_TRIES 5
#define DUMP_MAX (64u << 20) // bytes; half a million routes

struct rtnl {
	struct nl_sock *sock;
	uint32_t seq;
	char ack[RTNL_ACK_MAX]; // of the last exchange
	_Alignas(struct nlmsghdr) char buf[RTNL_RECV_SIZE];
};

// ---- socket ----

// libnl's numbers are its own; the few that opening can meet.
static int from_nle(int nle)
{
	return nle == -NLE_NOMEM ? -ENOMEM : errno > 0 ? -errno : -EIO;
}

int rtnl_sock_open(struct nl_sock **ret_sock)
{
	struct nl_sock *sock = nl_socket_alloc();
	int on = 1;

	if (!sock)
		return -ENOMEM;
	errno = 0;
	int r = nl_connect(sock, NETLINK_ROUTE);
	if (r < 0) {
		r = from_nle(r);
		nl_socket_free(sock);
		return r;
	}
	// Without these (Linux < 4.12) errors have no text and carry the whole request.
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	*ret_sock = sock;
	return 0;
}

int rtnl_open(struct rtnl **ret_rtnl, struct err *err)
{
	_cleanup_(rtnl_closep) struct rtnl *rtnl = calloc(1, sizeof(*rtnl));
	int r = rtnl ? rtnl_sock_open(&rtnl->sock) : -ENOMEM;

	if (r < 0)
		return err_set(err, -r, "open a netlink socket");
	*ret_rtnl = TAKE_PTR(rtnl);
	return 0;
}

struct opening {
	struct rtnl **ret_rtnl;
	struct err *err;
	bool failed; // the error is told already
};

static int open_here(void *arg)
{
	struct opening *o = arg;
	int r = rtnl_open(o->ret_rtnl, o->err);

	o->failed = r < 0;
	return r;
}

int rtnl_open_in(int netns_fd, struct rtnl **ret_rtnl, struct err *err)
{
	struct opening o = {.ret_rtnl = ret_rtnl, .err = err};
	int r = netns_run(netns_fd, open_here, &o);

	if (r < 0 && !o.failed)
		return err_set(err, -r, "enter the network namespace");
	return r;
}

void rtnl_close(struct rtnl *rtnl)
{
	if (!rtnl)
		return;
	nl_socket_free(rtnl->sock);
	free(rtnl);
}

void rtnl_closep(struct rtnl **rtnl)
{
	rtnl_close(*rtnl);
	*rtnl = NULL;
}

int rtnl_sock_recv(int fd, void *buf, size_t size)
{
	struct sockaddr_nl from = {0};
	struct iovec iov = {.iov_base = buf, .iov_len = size};
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	do {
		n = recvmsg(fd, &msg, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	// Any process may send to us; only port 0 is the kernel.
	if (from.nl_pid != 0)
		return 0;
	return msg.msg_flags & MSG_TRUNC ? -EMSGSIZE : (int)n;
}

// ---- replies ----

// The kernel's text in the attributes at offset of an error or done message.
static void take_ack_text(struct rtnl_exchange *x, const struct nlmsghdr *h, size_t offset)
{
	size_t size = (size_t)nlmsg_datalen(h);

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS) || offset > size)
		return;
	const struct nlattr *head = (const void *)((const char *)nlmsg_data(h) + offset);
	rtnl_attr_text(nla_find(head, (int)(size - offset), NLMSGERR_ATTR_MSG), x->ack,
		       sizeof(x->ack));
}

static void finish(struct rtnl_exchange *x, int result)
{
	x->done = true;
	x->result = result;
}

static void take_error(struct rtnl_exchange *x, const struct nlmsghdr *h)
{
	struct nlmsgerr e;
	size_t offset = sizeof(e);

	if ((size_t)nlmsg_datalen(h) < sizeof(e)) {
		finish(x, -EBADMSG);
		return;
	}
	memcpy(&e, nlmsg_data(h), sizeof(e));
	// An uncapped error repeats the request's payload in between.
	if (!(h->nlmsg_flags & NLM_F_CAPPED) && e.msg.nlmsg_len > sizeof(e.msg))
		offset += NLMSG_ALIGN((size_t)e.msg.nlmsg_len) - sizeof(e.msg);
	take_ack_text(x, h, offset);
	finish(x, e.error > 0 || e.error < -4095 ? -EBADMSG : e.error);
}

static void take_done(struct rtnl_exchange *x, const struct nlmsghdr *h)
{
	int error = 0;

	if ((size_t)nlmsg_datalen(h) >= sizeof(error)) {
		memcpy(&error, nlmsg_data(h), sizeof(error));
		take_ack_text(x, h, sizeof(error));
	}
	finish(x, error < 0 && error >= -4095 ? error : 0);
}

static void take_message(struct rtnl_exchange *x, const struct nlmsghdr *h)
{
	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;
	switch (h->nlmsg_type) {
	case NLMSG_NOOP:
		break;
	case NLMSG_ERROR:
		take_error(x, h);
		break;
	case NLMSG_DONE:
		take_done(x, h);
		break;
	case NLMSG_OVERRUN:
		finish(x, -ENOBUFS);
		break;
	default: {
		int r = x->fn ? x->fn(h, x->arg) : 0;
		if (r != 0)
			finish(x, r);
	}
	}
}

void rtnl_exchange_feed(struct rtnl_exchange *x, const void *data, size_t size)
{
	// libnl's iterators take no const; nothing here writes.
	struct nlmsghdr *h = (struct nlmsghdr *)data;

	for (int left = (int)size; nlmsg_ok(h, left) && !x->done; h = nlmsg_next(h, &left))
		// Another number: late replies to a request that was given up.
		if (h->nlmsg_seq == x->seq)
			take_message(x, h);
}

// ---- exchange ----

static int send_request(struct rtnl *rtnl, struct nlmsghdr *h)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	ssize_t n;

	h->nlmsg_seq = ++rtnl->seq;
	h->nlmsg_pid = nl_socket_get_local_port(rtnl->sock);
	h->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	do {
		n = sendto(nl_socket_get_fd(rtnl->sock), h, h->nlmsg_len, 0,
			   (const struct sockaddr *)&kernel, sizeof(kernel));
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int receive(struct rtnl *rtnl, struct rtnl_exchange *x, uint64_t deadline_ns)
{
	int fd = nl_socket_get_fd(rtnl->sock);

	while (!x->done) {
		int r = fdio_wait(fd, POLLIN, deadline_ns);
		if (r < 0)
			return r;
		r = rtnl_sock_recv(fd, rtnl->buf, sizeof(rtnl->buf));
		if (r < 0 && r != -EAGAIN)
			return r;
		if (r > 0)
			rtnl_exchange_feed(x, rtnl->buf, (size_t)r);
	}
	return x->result;
}

// One request and all of its replies. *ret_interrupted may be NULL.
static int exchange(struct rtnl *rtnl, struct rtnl_req *req, rtnl_fn *fn, void *arg,
		    bool *ret_interrupted)
{
	struct rtnl_exchange x = {.fn = fn, .arg = arg};

	rtnl->ack[0] = '\0';
	if (req->failed)
		return -ENOMEM;
	int r = send_request(rtnl, nlmsg_hdr(req->msg));
	if (r < 0)
		return r;
	x.seq = rtnl->seq;
	r = receive(rtnl, &x, clock_deadline_ns(CALL_TIMEOUT_MS));
	memcpy(rtnl->ack, x.ack, sizeof(rtnl->ack));
	if (ret_interrupted)
		*ret_interrupted = x.interrupted;
	return r;
}

int rtnl_call(struct rtnl *rtnl, struct rtnl_req *req, rtnl_fn *fn, void *arg)
{
	return exchange(rtnl, req, fn, arg, NULL);
}

static int keep_message(const struct nlmsghdr *h, void *arg)
{
	static const char pad[NLMSG_ALIGNTO];
	struct buf *all = arg;
	int r = buf_add(all, h, h->nlmsg_len);

	return r < 0 ? r : buf_add(all, pad, NLMSG_ALIGN(h->nlmsg_len) - h->nlmsg_len);
}

static int deliver(const struct buf *all, rtnl_fn *fn, void *arg)
{
	struct nlmsghdr *h = (void *)all->data;
	int r = 0;

	for (int left = (int)all->len; r == 0 && nlmsg_ok(h, left); h = nlmsg_next(h, &left))
		r = fn(h, arg);
	return r;
}

int rtnl_dump(struct rtnl *rtnl, struct rtnl_req *req, rtnl_fn *fn, void *arg)
{
	for (int i = 0; i < DUMP_TRIES; i++) {
		_cleanup_(buf_fini) struct buf all = BUF_INIT(DUMP_MAX);
		bool interrupted = false;
		int r = exchange(rtnl, req, keep_message, &all, &interrupted);
		if (r < 0)
			return r;
		if (!interrupted)
			return deliver(&all, fn, arg);
	}
	return -EAGAIN;
}

int rtnl_fail(const struct rtnl *rtnl, int r, struct err *err, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return err_set(err, -r, "%s%s%s", what, rtnl->ack[0] != '\0' ? ": " : "", rtnl->ack);
}
