// SPDX-License-Identifier: Apache-2.0
#include "netlink/monitor.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <netlink/msg.h>
#include <netlink/socket.h>

#include "base/cleanup.h"
#include "netlink/link_msg.h"
#include "netlink/netns.h"
#include "netlink/rtnl_msg.h"

#define QUEUE_BYTES (1 << 20) // what may wait in the socket: some thousand events
#define READS_MAX 64          // datagrams per monitor_read: a storm must not hold the caller

struct monitor {
	struct nl_sock *sock;
	monitor_fn *fn;
	void *arg;
	_Alignas(struct nlmsghdr) char buf[RTNL_RECV_SIZE];
};

static int open_here(void *arg)
{
	struct monitor *m = arg;
	int size = QUEUE_BYTES;
	int r = rtnl_sock_open(&m->sock);

	if (r < 0)
		return r;
	// The forced form needs CAP_NET_ADMIN, the other one is capped by rmem_max; either will do.
	int fd = nl_socket_get_fd(m->sock);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	errno = 0;
	r = nl_socket_add_memberships(m->sock, RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR,
				      RTNLGRP_IPV6_IFADDR, 0);
	if (r < 0)
		return errno > 0 ? -errno : -EIO;
	return 0;
}

int monitor_open(int netns_fd, monitor_fn *fn, void *arg, struct monitor **ret_monitor,
		 struct err *err)
{
	struct monitor *m = calloc(1, sizeof(*m));

	if (!m)
		return err_set(err, ENOMEM, "open a netlink monitor");
	m->fn = fn;
	m->arg = arg;
	int r = netns_fd < 0 ? open_here(m) : netns_run(netns_fd, open_here, m);
	if (r < 0) {
		monitor_close(m);
		return err_set(err, -r, "open a netlink monitor");
	}
	*ret_monitor = m;
	return 0;
}

void monitor_close(struct monitor *m)
{
	if (!m)
		return;
	nl_socket_free(m->sock);
	free(m);
}

int monitor_fd(const struct monitor *m)
{
	return nl_socket_get_fd(m->sock);
}

static int decode(const struct nlmsghdr *h, struct monitor_event *event)
{
	switch (h->nlmsg_type) {
	case RTM_NEWLINK:
		event->kind = MONITOR_LINK_NEW;
		return link_info_decode(h, &event->link);
	case RTM_DELLINK:
		event->kind = MONITOR_LINK_DEL;
		return link_info_decode(h, &event->link);
	case RTM_NEWADDR:
		event->kind = MONITOR_ADDR_NEW;
		return link_addr_decode(h, &event->addr);
	case RTM_DELADDR:
		event->kind = MONITOR_ADDR_DEL;
		return link_addr_decode(h, &event->addr);
	default:
		return LINK_MSG_SKIP;
	}
}

static void resync(struct monitor *m)
{
	struct monitor_event event = {.kind = MONITOR_RESYNC};

	m->fn(&event, m->arg);
}

static void take_datagram(struct monitor *m, size_t size)
{
	struct nlmsghdr *h = (void *)m->buf;

	for (int left = (int)size; nlmsg_ok(h, left); h = nlmsg_next(h, &left)) {
		struct monitor_event event = {0};
		int r = decode(h, &event);
		if (r == 0)
			m->fn(&event, m->arg);
		else if (r < 0)
			resync(m);
	}
}

int monitor_read(struct monitor *m)
{
	int fd = nl_socket_get_fd(m->sock);

	for (int i = 0; i < READS_MAX; i++) {
		int r = rtnl_sock_recv(fd, m->buf, sizeof(m->buf));
		if (r == -EAGAIN)
			return 0;
		if (r == -ENOBUFS || r == -EMSGSIZE)
			resync(m);
		else if (r < 0)
			return r;
		else if (r > 0)
			take_datagram(m, (size_t)r);
	}
	return 0;
}
