// SPDX-License-Identifier: Apache-2.0
// Numbers of the wire formats that parser and builders share. Constants only.
#pragma once

#include <netinet/in.h>

enum proto_eth { // host order
	PROTO_ETH_IPV4 = 0x0800,
	PROTO_ETH_ARP = 0x0806,
	PROTO_ETH_VLAN = 0x8100,
	PROTO_ETH_IPV6 = 0x86dd,
	PROTO_ETH_QINQ = 0x88a8,
};

enum proto_size { // bytes
	PROTO_ETH_SIZE = 14,
	PROTO_VLAN_SIZE = 4,
	PROTO_ARP_SIZE = 28,  // Ethernet/IPv4
	PROTO_IPV4_SIZE = 20, // without options
	PROTO_IPV6_SIZE = 40,
	PROTO_TCP_SIZE = 20, // without options
	PROTO_UDP_SIZE = 8,
	PROTO_ICMP_SIZE = 8,
	PROTO_SCTP_SIZE = 12,
	PROTO_ND_SIZE = 24,   // solicitation or advertisement without options
	PROTO_IP_MAX = 65535, // longest datagram
};

enum proto_ipv4_frag { // the 16 bits with the fragment offset
	PROTO_IPV4_DF = 0x4000,
	PROTO_IPV4_MF = 0x2000,
	PROTO_IPV4_OFFSET = 0x1fff, // units of 8 bytes
};

enum proto_icmp4 { // types
	PROTO_ICMP4_ECHO_REPLY = 0,
	PROTO_ICMP4_UNREACHABLE = 3,
	PROTO_ICMP4_ECHO = 8,
	PROTO_ICMP4_TIME_EXCEEDED = 11,
	PROTO_ICMP4_TIMESTAMP = 13, // first of the queries 13..18
	PROTO_ICMP4_MASK_REPLY = 18,
};

enum proto_icmp6 { // types
	PROTO_ICMP6_UNREACHABLE = 1,
	PROTO_ICMP6_TOO_BIG = 2,
	PROTO_ICMP6_TIME_EXCEEDED = 3,
	PROTO_ICMP6_ECHO = 128, // errors are below
	PROTO_ICMP6_ECHO_REPLY = 129,
	PROTO_ICMP6_ND_FIRST = 133, // router solicitation
	PROTO_ICMP6_NS = 135,
	PROTO_ICMP6_NA = 136,
	PROTO_ICMP6_REDIRECT = 137, // last of neighbour discovery
};
