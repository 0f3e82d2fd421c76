// SPDX-License-Identifier: Apache-2.0
#include "main/hostnet.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/log.h"
#include "main/hostnet_internal.h"
#include "netlink/netns.h"

#define LOOPBACK_INDEX 1
#define SYSCTL_MAX 96

LOG_MODULE("hostnet");

// 0, also where the kernel has no IPv6, or -errno.
static int write_sysctl(const char *path, const char *text)
{
	int r = fdio_write_text(path, text);

	return r == -ENOENT ? 0 : r;
}

static int disable_ipv6(void *arg)
{
	int r = write_sysctl("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");

	(void)arg;
	return r < 0 ? r : write_sysctl("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

// Nothing but the packet sockets of weftd is to see what comes in here.
static int quiet_netns(struct hostnet *h, struct err *err)
{
	const struct link_change down = {.ifindex = LOOPBACK_INDEX, .noarp = -1};
	int r = netns_run(h->netns, disable_ipv6, NULL);

	// In a container /proc/sys may be read-only; host ends still get no IPv6 address.
	if (r < 0)
		LOG_WARN("IPv6 stays on in the private namespace", "netns=%s why=%s", h->netns_name,
			 strerror(-r));
	r = link_set(h->private, &down, err);
	return r < 0 ? err_wrap(err, r, "loopback of namespace `%s`", h->netns_name) : 0;
}

// Names in the abstract name space of sockets belong to a network namespace and end with their
// process: a lock that needs no file. The descriptor or -errno.
static int bind_lock(void *arg)
{
	static const char name[] = "\0weftd";
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)arg;
	if (fd < 0)
		return -errno;
	memcpy(at.sun_path, name, sizeof(name) - 1);
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name) - 1)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int lock_netns(struct hostnet *h, struct err *err)
{
	h->lock = netns_run(h->netns, bind_lock, NULL);
	if (h->lock == -EADDRINUSE)
		return err_set(err, 0, "another weftd uses namespace `%s`", h->netns_name);
	return h->lock < 0 ? err_set(err, -h->lock, "lock of namespace `%s`", h->netns_name) : 0;
}

static int open_netns(struct hostnet *h, struct err *err)
{
	int r;

	h->netns = netns_open_or_make(h->netns_name, err);
	if (h->netns < 0)
		return h->netns;
	if (netns_is_same(h->netns, -1))
		return err_set(err, 0, "namespace `%s` is the host's own", h->netns_name);
	r = lock_netns(h, err);
	if (r == 0)
		r = rtnl_open(&h->host, err);
	if (r == 0)
		r = rtnl_open_in(h->netns, &h->private, err);
	return r < 0 ? r : quiet_netns(h, err);
}

// ---- the veth ----

static int make_veth(struct hostnet *h, struct err *err)
{
	const struct link_veth v = {
		.name = h->host_if,
		.peer_name = HOSTNET_PEER,
		.peer_netns_fd = h->netns,
		.peer_ifindex = HOSTNET_PEER_INDEX,
		.mtu = h->mtu,
	};
	int r = link_add_veth(h->host, &v, err);

	if (r == LINK_EXISTS)
		return err_set(err, 0, "make `%s`: `%s` or index %d is in use in namespace `%s`",
			       h->host_if, HOSTNET_PEER, HOSTNET_PEER_INDEX, h->netns_name);
	return r < 0 ? err_wrap(err, r, "make `%s`", h->host_if) : 0;
}

// The other end must be ours in the private namespace, or packets would go who knows where.
static int check_pair(struct hostnet *h, const struct link_info *host, struct link_info *peer,
		      struct err *err)
{
	int r = link_get_by_name(h->private, HOSTNET_PEER, peer, err);

	if (r < 0)
		return r;
	if (strcmp(host->kind, "veth") != 0 || r == LINK_NOT_FOUND ||
	    host->peer_ifindex != peer->ifindex || peer->peer_ifindex != host->ifindex)
		return err_set(err, 0,
			       "interface `%s` exists and is not connected to namespace `%s`",
			       h->host_if, h->netns_name);
	return 0;
}

static int find_or_make(struct hostnet *h, struct link_info *host, struct link_info *peer,
			struct err *err)
{
	int r = link_get_by_name(h->host, h->host_if, host, err);

	if (r == LINK_NOT_FOUND) {
		r = make_veth(h, err);
		if (r == 0)
			r = link_get_by_name(h->host, h->host_if, host, err);
		if (r == LINK_NOT_FOUND)
			r = err_set(err, ENODEV, "interface `%s`", h->host_if);
	}
	return r < 0 ? r : check_pair(h, host, peer, err);
}

static void quiet_interface(const struct hostnet *h)
{
	char path[SYSCTL_MAX];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/accept_ra", h->host_if);
	if (write_sysctl(path, "0") < 0)
		LOG_WARN("cannot switch router advertisements off", "interface=%s", h->host_if);
}

static int set_neighbours(struct hostnet *h, struct err *err)
{
	int r = link_neigh_set(h->host, h->host_index, &h->gateways[0], &h->gateway_mac, err);

	if (r < 0)
		return err_wrap(err, r, "gateway neighbour on `%s`", h->host_if);
	r = link_neigh_set(h->host, h->host_index, &h->gateways[1], &h->gateway_mac, NULL);
	if (r < 0)
		LOG_INFO("no IPv6 on the host interface", "interface=%s why=%s", h->host_if,
			 strerror(-r));
	h->has_ipv6 = r == 0;
	return 0;
}

static int raise_links(struct hostnet *h, struct err *err)
{
	struct link_change c = {
		.ifindex = h->host_index, .up = -1, .noarp = -1, .addrgen_none = true};
	int r = link_set(h->host, &c, err);

	if (r < 0)
		return err_wrap(err, r, "`%s`", h->host_if);
	quiet_interface(h);
	c.mtu = h->mtu;
	c.up = 1;
	r = link_set(h->host, &c, err);
	if (r < 0)
		return err_wrap(err, r, "`%s`", h->host_if);
	c.ifindex = h->peer_index;
	c.noarp = 1;
	r = link_set(h->private, &c, err);
	return r < 0 ? err_wrap(err, r, "`%s`", HOSTNET_PEER) : set_neighbours(h, err);
}

int hostnet_repair(struct hostnet *h, struct err *err)
{
	struct link_info host, peer;
	int r = find_or_make(h, &host, &peer, err);

	if (r < 0)
		return r;
	h->host_index = host.ifindex;
	h->peer_index = peer.ifindex;
	h->mac = host.mac;
	return raise_links(h, err);
}

int hostnet_open(const struct hostnet_conf *conf, struct hostnet **ret_hostnet, struct err *err)
{
	struct hostnet *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return err_set(err, ENOMEM, "host port");
	h->netns = h->lock = -1;
	h->netns_name = conf->netns;
	h->host_if = conf->host_if;
	h->mtu = conf->mtu;
	h->gateway_mac = conf->gateway_mac;
	memcpy(h->gateways, conf->gateways, sizeof(h->gateways));
	r = open_netns(h, err);
	if (r == 0)
		r = hostnet_repair(h, err);
	if (r < 0) {
		hostnet_close(h);
		return r;
	}
	*ret_hostnet = h;
	return 0;
}

void hostnet_close(struct hostnet *h)
{
	if (!h)
		return;
	rtnl_close(h->host);
	rtnl_close(h->private);
	cleanup_closep(&h->lock);
	cleanup_closep(&h->netns);
	free(h);
}

int hostnet_set_mtu(struct hostnet *h, uint32_t mtu, struct err *err)
{
	struct link_change c = {.ifindex = h->host_index, .up = -1, .noarp = -1, .mtu = mtu};
	int r;

	if (mtu == h->mtu)
		return 0;
	r = link_set(h->host, &c, err);
	c.ifindex = h->peer_index;
	if (r == 0)
		r = link_set(h->private, &c, err);
	if (r == 0)
		h->mtu = mtu;
	return r < 0 ? err_wrap(err, r, "MTU of `%s`", h->host_if) : r;
}

int hostnet_netns(const struct hostnet *h)
{
	return h->netns;
}

struct rtnl *hostnet_private_rtnl(const struct hostnet *h)
{
	return h->private;
}

const struct macaddr *hostnet_mac(const struct hostnet *h)
{
	return &h->mac;
}

uint32_t hostnet_peer_index(const struct hostnet *h)
{
	return h->peer_index;
}
