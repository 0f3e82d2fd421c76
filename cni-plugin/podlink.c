// SPDX-License-Identifier: Apache-2.0
#include "podlink.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "netlink/netns.h"
#include "sysctl.h"
#include "udpseg.h"

LOG_MODULE("podlink");

// Metric of the routes of an interface that is not the pod's first: above the kernel's own 1024
// for IPv6, so that the first one's default route stays the one in use.
#define SECOND_METRIC 4096
#define RUNNING_WAIT_MS 300
// rtnetlink(7): RT_SCOPE_UNIVERSE, RT_SCOPE_LINK, RT_TABLE_MAIN.
#define SCOPE_UNIVERSE 0
#define SCOPE_LINK 253
#define TABLE_MAIN 254

int podlink_open(struct podlink *link, const char *netns_path, const char *ifname, bool override,
		 struct err *err)
{
	int fd = netns_open(netns_path, NULL, err);

	if (fd < 0)
		return cni_code(err, fd, CNI_CODE_NETNS);
	link->netns_fd = fd;
	link->ifname = ifname;
	if (!override && netns_is_same(fd, -1))
		return err_set_code(err, CNI_CODE_NETNS, 0,
				    "network namespace `%.256s` is the plugin's own", netns_path);
	return cni_code(err, rtnl_open_in(fd, &link->rtnl, err), CNI_CODE_LINK);
}

void podlink_fini(struct podlink *link)
{
	rtnl_close(link->rtnl);
	if (link->netns_fd >= 0)
		close(link->netns_fd);
	*link = PODLINK_INIT;
}

int podlink_require_free(struct podlink *link, struct err *err)
{
	struct link_info info;
	int r;

	// The kernel takes such a name for a template and makes a link of another name.
	if (strchr(link->ifname, '%'))
		return err_set_code(err, CNI_CODE_ENVIRONMENT, 0,
				    "CNI_IFNAME: no interface can be called `%s`", link->ifname);
	r = link_get_by_name(link->rtnl, link->ifname, &info, err);
	if (r == LINK_NOT_FOUND)
		return 0;
	if (r == 0)
		return err_set_code(err, CNI_CODE_INTERFACE_EXISTS, EEXIST,
				    "interface `%s` in the pod", link->ifname);
	return cni_code(err, r, CNI_CODE_LINK);
}

int podlink_make(struct podlink *link, const struct daemon_grant *grant, struct err *err)
{
	const struct link_veth veth = {
		.name = link->ifname,
		.peer_name = grant->host_ifname,
		.peer_netns_fd = grant->netns_fd,
		.peer_ifindex = grant->host_ifindex,
		.mac = grant->mac,
		.mtu = grant->mtu,
		.gso_max_size = grant->gso_max_size,
		.gso_max_segs = grant->gso_max_segs,
	};
	struct link_info info;
	int r = link_add_veth(link->rtnl, &veth, err);

	if (r == LINK_EXISTS) {
		// The kernel does not say which end was refused.
		r = podlink_require_free(link, err);
		return r < 0 ? r : PODLINK_TAKEN;
	}
	if (r == 0)
		r = link_get_by_name(link->rtnl, link->ifname, &info, err);
	if (r > 0)
		r = err_set(err, ENODEV, "interface `%s`, just made", link->ifname);
	if (r == 0)
		link->ifindex = info.ifindex;
	return cni_code(err, r, CNI_CODE_LINK);
}

static int bring_up(struct rtnl *rtnl, uint32_t ifindex, struct err *err)
{
	const struct link_change up = {.ifindex = ifindex, .up = 1, .noarp = -1};
	int r = link_set(rtnl, &up, err);

	return r > 0 ? err_set(err, ENODEV, "interface %u", ifindex) : r;
}

static int bring_up_lo(struct rtnl *rtnl, struct err *err)
{
	struct link_info lo;
	int r = link_get_by_name(rtnl, "lo", &lo, err);

	if (r != 0)
		return r < 0 ? r : 0; // a namespace without lo is strange, but not our trouble
	return lo.flags & IFF_UP ? 0 : bring_up(rtnl, lo.ifindex, err);
}

static int add_addresses(struct podlink *link, const struct ip_list *ips, struct err *err)
{
	for (size_t i = 0; i < ips->count; i++) {
		struct ipprefix p = {.addr = ips->ip[i],
				     .len = ipaddr_is_v4(&ips->ip[i]) ? 32 : 128};
		int r = link_addr_add(link->rtnl, link->ifindex, &p, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int see_default(const struct link_route *route, void *arg)
{
	const struct podlink *link = arg;

	return route->dst.len == 0 && route->ifindex != link->ifindex &&
	       (route->table == 0 || route->table == TABLE_MAIN);
}

// 0 for the pod's first way out of a family.
static int choose_metric(struct podlink *link, bool v4, uint32_t *ret_metric, struct err *err)
{
	int r = link_route_foreach(link->rtnl, v4 ? AF_INET : AF_INET6, see_default, link, err);

	if (r < 0)
		return r;
	*ret_metric = r > 0 ? SECOND_METRIC + link->ifindex : 0;
	return 0;
}

static int add_way_out(struct podlink *link, const struct ipaddr *gateway,
		       const struct macaddr *mac, struct err *err)
{
	bool v4 = ipaddr_is_v4(gateway);
	struct link_route to_gateway = {
		.dst = {.addr = *gateway, .len = v4 ? 32 : 128},
		.ifindex = link->ifindex,
		.scope = v4 ? SCOPE_LINK : SCOPE_UNIVERSE,
	};
	struct link_route out = {
		.dst = {.addr = v4 ? ipaddr_from_v4(0) : (struct ipaddr){{0}}, .len = 0},
		.has_gateway = true,
		.gateway = *gateway,
		.ifindex = link->ifindex,
	};
	int r = choose_metric(link, v4, &to_gateway.metric, err);

	if (r < 0)
		return r;
	out.metric = to_gateway.metric;
	// fe80::/64 is on every link already.
	if (v4 || !ipaddr_is_link_local(gateway))
		r = link_route_set(link->rtnl, &to_gateway, err);
	if (r == 0)
		r = link_route_set(link->rtnl, &out, err);
	if (r == 0)
		r = link_neigh_set(link->rtnl, link->ifindex, gateway, mac, err);
	return r;
}

// One default route per family, through the gateway of its first address.
static int add_routes(struct podlink *link, const struct daemon_grant *grant, struct err *err)
{
	bool done[2] = {false, false};

	for (size_t i = 0; i < grant->ips.count; i++) {
		bool v4 = ipaddr_is_v4(&grant->ips.ip[i]);
		int r;

		if (done[v4])
			continue;
		done[v4] = true;
		r = add_way_out(link, &grant->gateways.ip[i], &grant->gateway_mac, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool has_v6(const struct ip_list *ips)
{
	for (size_t i = 0; i < ips->count; i++) {
		if (!ipaddr_is_v4(&ips->ip[i]))
			return true;
	}
	return false;
}

int podlink_setup(struct podlink *link, const struct daemon_grant *grant, struct err *err)
{
	int r = sysctl_prepare(link->netns_fd, link->ifname, has_v6(&grant->ips), err);

	if (r == 0)
		r = add_addresses(link, &grant->ips, err);
	if (r == 0)
		r = bring_up_lo(link->rtnl, err);
	if (r == 0)
		r = bring_up(link->rtnl, link->ifindex, err);
	if (r == 0)
		r = add_routes(link, grant, err);
	if (r == 0 && udpseg_is_lossy())
		r = udpseg_disable(link->netns_fd, link->ifname, err);
	return cni_code(err, err_wrap(err, r, "set up `%s` in the pod", link->ifname),
			CNI_CODE_LINK);
}

void podlink_wait_running(struct podlink *link)
{
	uint64_t deadline = clock_deadline_ns(RUNNING_WAIT_MS);
	struct timespec pause = {.tv_nsec = (long)NS_PER_MS};
	struct link_info info;

	// A veth has no queue until the kernel has worked on its carrier event; until then it
	// drops.
	while (link_get_by_index(link->rtnl, link->ifindex, &info, NULL) == 0 &&
	       !(info.flags & IFF_RUNNING)) {
		if (clock_left_ms(deadline) == 0) {
			LOG_WARN("interface is slow to come up", "ifname=%s", link->ifname);
			return;
		}
		nanosleep(&pause, NULL);
	}
}

int podlink_remove(struct podlink *link, struct err *err)
{
	int r = link_del(link->rtnl, link->ifindex, err);

	return r == LINK_NOT_FOUND ? 0 : r;
}
