// SPDX-License-Identifier: Apache-2.0
// The node's side of weft: the private namespace, and the host port's veth between it and weftd's
// own namespace.
//
//	hostnet_open(&conf, &h, err);     makes or takes over both
//	hostnet_set_routes(h, ...);       host routes to pod ranges
//	hostnet_close(h);                 closes sockets; links, routes and the namespace stay
//
// The host interface has no address. The host reaches pods over routes whose gateways are two
// permanent neighbours with the gateway's MAC. Routes carry protocol number HOSTNET_PROTOCOL, and
// every route of it over the host interface is ours to change. Control thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ipaddr.h"
#include "netlink/rtnl.h"

#define HOSTNET_PROTOCOL 77   // of our routes, RTA_PROTOCOL
#define HOSTNET_PEER "host0"  // the host port's end in the private namespace
#define HOSTNET_PEER_INDEX 17 // its index where we make it: ATTACH_IFINDEX_BASE + port id 1
#define HOSTNET_IPS_MAX 32
#define HOSTNET_RANGES_MAX 64

struct hostnet;

struct hostnet_conf {
	const char *netns;   // name
	const char *host_if; // name
	uint32_t mtu;        // bytes
	struct macaddr gateway_mac;
	struct ipaddr gateways[2]; // IPv4, IPv6
};

// 0 or -errno. A host interface of another kind, or with its other end elsewhere, is an error.
int hostnet_open(const struct hostnet_conf *conf, struct hostnet **ret_hostnet, struct err *err);
void hostnet_close(struct hostnet *h);

int hostnet_netns(const struct hostnet *h);                 // descriptor, borrowed
struct rtnl *hostnet_private_rtnl(const struct hostnet *h); // borrowed
const struct macaddr *hostnet_mac(const struct hostnet *h); // of the host interface
uint32_t hostnet_peer_index(const struct hostnet *h);
// Makes the veth again when somebody deleted it. 0 or -errno.
int hostnet_repair(struct hostnet *h, struct err *err);
// MTU of both ends. 0 or -errno.
int hostnet_set_mtu(struct hostnet *h, uint32_t mtu, struct err *err);

struct hostnet_routes {
	size_t range_count, ip_count;
	struct ipprefix ranges[HOSTNET_RANGES_MAX];
	struct ipaddr
		ips[HOSTNET_IPS_MAX]; // of the node; the first of a family is the source address
};
// Makes exactly these routes exist. A route that the kernel refuses is logged; -errno of the last
// one.
int hostnet_set_routes(struct hostnet *h, const struct hostnet_routes *routes, struct err *err);

// MTU of the interface that holds an address. 0 = no interface has it.
uint32_t hostnet_mtu_of(struct hostnet *h, const struct ipaddr *ip);
// The node's addresses when nobody named them: per family the first global one of the interface
// with the default route, else of any interface. Returns the count (0..2).
size_t hostnet_detect(struct hostnet *h, struct ipaddr ret[2]);
