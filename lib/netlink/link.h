// SPDX-License-Identifier: Apache-2.0
// Links, addresses, routes, permanent neighbours. Each function is one request (or dump) on an rtnl
// socket and acts in that socket's namespace. Results: 0, a positive LINK_* outcome where stated,
// or -errno with the kernel's extended-ack text in err where it gave one.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ipaddr.h"
#include "netlink/rtnl.h"

#define LINK_NAME_MAX 16   // with NUL (IFNAMSIZ)
#define LINK_ALIAS_MAX 256 // with NUL (IFALIASZ)

enum link_outcome { LINK_NOT_FOUND = 1, LINK_EXISTS = 2 };

struct link_info {
	uint32_t ifindex;
	uint32_t peer_ifindex; // IFLA_LINK of a veth, in the peer's namespace; 0 unknown
	uint32_t mtu;          // bytes, without the Ethernet header
	uint32_t flags;        // IFF_*
	struct macaddr mac;
	char name[LINK_NAME_MAX];
	char alias[LINK_ALIAS_MAX]; // "" = none
	char kind[16];              // IFLA_INFO_KIND, "" = none
};

// A veth pair whose first end is in the socket's namespace.
struct link_veth {
	const char *name;        // end in the socket's namespace
	const char *peer_name;   // end in peer_netns_fd
	int peer_netns_fd;       // -1: the socket's namespace too
	uint32_t peer_ifindex;   // wanted index of the peer, 0 = the kernel chooses
	struct macaddr mac;      // of `name`; all zero = the kernel chooses
	struct macaddr peer_mac; // of `peer_name`; all zero = the kernel chooses
	uint32_t mtu;            // both ends, bytes; 0 = default
	uint32_t gso_max_size;   // of `name`, bytes; 0 = leave
	uint32_t gso_max_segs;   // of `name`, segments in one frame; 0 = leave
};

// LINK_EXISTS when a name or the wanted index is taken.
int link_add_veth(struct rtnl *rtnl, const struct link_veth *v, struct err *err);
// LINK_NOT_FOUND when there is none.
int link_get_by_name(struct rtnl *rtnl, const char *name, struct link_info *ret, struct err *err);
int link_get_by_index(struct rtnl *rtnl, uint32_t ifindex, struct link_info *ret, struct err *err);
// All links; fn returns non-zero to stop, which is passed on. fn may use the same socket.
int link_foreach(struct rtnl *rtnl, int (*fn)(const struct link_info *info, void *arg), void *arg,
		 struct err *err);
int link_del(struct rtnl *rtnl, uint32_t ifindex, struct err *err); // LINK_NOT_FOUND: already gone
// Changes what is asked for; up, noarp: -1 leave, 0 clear, 1 set. addrgen_none: IPv6 makes no
// link-local address by itself (IFLA_INET6_ADDR_GEN_MODE none). mtu 0, alias NULL: leave.
struct link_change {
	uint32_t ifindex;
	int up, noarp;
	bool addrgen_none;
	uint32_t mtu;
	const char *alias;
	const struct macaddr *mac; // NULL: leave
};
// Applies the change (addrgen_none first). 0 or -errno (-ENODEV: no such link).
int link_set(struct rtnl *rtnl, const struct link_change *c, struct err *err);

// Address on a link. IPv6: IFA_F_NODAD, so that it is usable at once. LINK_EXISTS: it is there.
int link_addr_add(struct rtnl *rtnl, uint32_t ifindex, const struct ipprefix *addr,
		  struct err *err);
// -EADDRNOTAVAIL: it is not there.
int link_addr_del(struct rtnl *rtnl, uint32_t ifindex, const struct ipprefix *addr,
		  struct err *err);
struct link_addr {
	uint32_t ifindex;
	struct ipprefix addr;
	uint8_t scope;  // RT_SCOPE_*
	uint32_t flags; // IFA_F_*
};
// All addresses, both families; fn as in link_foreach.
int link_addr_foreach(struct rtnl *rtnl, int (*fn)(const struct link_addr *a, void *arg), void *arg,
		      struct err *err);

struct link_route {
	struct ipprefix dst; // len 0 = default
	bool has_gateway;
	struct ipaddr gateway; // same family as dst (when read, IPv6 behind an IPv4 dst too)
	bool onlink;           // RTNH_F_ONLINK
	bool has_source;
	struct ipaddr source; // RTA_PREFSRC
	uint32_t ifindex;     // output link
	uint8_t protocol;     // RTPROT_*, 0 = RTPROT_STATIC
	uint8_t scope;        // RT_SCOPE_*
	uint32_t mtu;         // RTAX_MTU, 0 = none
	uint32_t table;       // 0 = main
	uint32_t metric;      // 0 = none
};
// Adds or replaces (NLM_F_REPLACE).
int link_route_set(struct rtnl *rtnl, const struct link_route *route, struct err *err);
// Deletes the first match of dst, table, and of gateway, ifindex, metric, protocol where they are
// set. -ESRCH: there is none.
int link_route_del(struct rtnl *rtnl, const struct link_route *route, struct err *err);
// Unicast routes of family (AF_UNSPEC: both) in all tables; of a multipath route the first hop.
int link_route_foreach(struct rtnl *rtnl, int family,
		       int (*fn)(const struct link_route *r, void *arg), void *arg,
		       struct err *err);
// Permanent neighbour, added or replaced.
int link_neigh_set(struct rtnl *rtnl, uint32_t ifindex, const struct ipaddr *addr,
		   const struct macaddr *mac, struct err *err);
