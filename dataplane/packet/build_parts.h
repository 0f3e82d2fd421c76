// SPDX-License-Identifier: Apache-2.0
// What the builders share; nobody else includes this. Pure functions on the output frame.
#pragma once

#include "packet/build.h"

struct build_ip {
	struct ipaddr src, dst; // same family
	uint8_t proto;
	uint8_t ttl;
	uint8_t tos;
	uint32_t payload; // bytes behind the IP header
};

// Ethernet header; returns where the next one starts.
uint8_t *build_eth(uint8_t *out, const struct macaddr *dst, const struct macaddr *src,
		   uint16_t type);
// IP header of the family of src (IPv4: don't fragment, no options); returns where L4 starts.
uint8_t *build_ip(uint8_t *at, const struct build_ip *ip);
// The frame of an answer from src to whoever sent p, up to its L4 header: MACs turned around.
uint8_t *build_answer(uint8_t *out, const struct pkt *p, const struct macaddr *our_mac,
		      const struct build_ip *ip);
// Writes the checksum of an ICMP or ICMPv6 message at l4 whose IP header is described by ip.
void build_icmp_csum(uint8_t *l4, const struct build_ip *ip);
// Whether p came from one station (MAC and address): only such a sender gets an answer.
bool build_has_sender(const struct pkt *p);
