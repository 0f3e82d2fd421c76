// SPDX-License-Identifier: Apache-2.0
// Frames for packet tests, built byte by byte with their own arithmetic: nothing here calls the
// code under test. Lengths are bytes from the Ethernet header. One thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/ipaddr.h"

struct frame_spec {
	struct macaddr src_mac, dst_mac;
	const char *src, *dst; // address text; the family decides the EtherType
	uint8_t proto;         // 6, 17, 1, 58 or anything
	uint16_t sport, dport; // host order; ICMP: sport = type << 8 | code, dport = identifier
	uint8_t ttl;           // 0 = 64
	uint16_t payload;      // bytes behind the L4 header, counting up from 0
	uint16_t frag_off;     // IPv4/IPv6 fragment: offset in bytes
	bool frag_more, frag;  // frag: write a fragment header or fields
	bool dont_fragment;
};

#define FRAME_MAX 70000

// Writes the frame into out (FRAME_MAX bytes) and returns its length. Checksums are exact.
uint32_t frame_build(const struct frame_spec *spec, uint8_t *out);
uint32_t frame_arp(uint16_t op, const struct macaddr *src, const struct macaddr *sender_mac,
		   const char *sender, const char *target, uint8_t *out);
// Neighbour solicitation (type 135) or advertisement (136) with a link-layer option.
uint32_t frame_nd(uint8_t type, const struct macaddr *src_mac, const char *src, const char *target,
		  const struct macaddr *link_addr, uint8_t *out);
// Hex digits to bytes; the length.
uint32_t frame_hex(const char *hex, uint8_t *out);
// True where the IPv4 header checksum (if IPv4) and the TCP/UDP/ICMP checksum of an unfragmented
// frame are right, by a bytewise sum.
bool frame_sums_ok(const uint8_t *frame, uint32_t len);
