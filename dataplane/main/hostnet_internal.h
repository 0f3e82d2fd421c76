// SPDX-License-Identifier: Apache-2.0
// State shared by hostnet.c (namespace and veth) and hostnet_route.c (routes and addresses).
#pragma once

#include "main/hostnet.h"
#include "netlink/link.h"

struct hostnet {
	const char *netns_name, *host_if; // borrowed
	int netns, lock;
	struct rtnl *host, *private;
	uint32_t host_index, peer_index;
	uint32_t mtu;
	struct macaddr mac, gateway_mac;
	struct ipaddr gateways[2]; // IPv4, IPv6
	bool has_ipv6;             // on the host interface
};
