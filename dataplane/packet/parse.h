// SPDX-License-Identifier: Apache-2.0
// Reading a frame: Ethernet, VID-0 tags, ARP, IPv4, IPv6 with extension headers, fragments, TCP,
// UDP, SCTP, ICMP. Everything is checked against the frame's end before it is read.
//
// Pure functions on bytes; no DPDK, clock or I/O, so that fuzzers and tests run them as they are.
#pragma once

#include "packet/drop.h"
#include "packet/pkt.h"

#define PARSE_EXT_MAX 8 // IPv6 extension headers walked before the packet is dropped

// Fills flags, eth_type, l3_off, l4_off, proto, ttl and key of a pkt whose data, len, in_port, vnet
// and vlan fields are set. Cuts len to the IP length (Ethernet padding goes; RFC 894). A VID-0 tag,
// inline or in metadata, is taken off (an inline one by moving data forward 4 bytes, csum_start
// follows). IPv4: header checksum and source-route options are checked, total length 0 is refused
// (BIG TCP is off on pods' links). For GSO frames the IP length still describes the whole frame.
// Fragments: key.sport and key.dport stay 0 in every one, the first included, since later ones have
// no ports; key.frag tells first (1) and later (2) apart. The first must hold the whole L4 header
// (a TCP header with its options). An IPv6 packet with a fragment header that is alone (RFC 6946)
// is whole. Protocols without a header known here have l4_off 0. Anything it cannot read is a drop,
// never a partial result (CVE-2020-35498 is that mistake). DROP_NONE, or the reason.
enum drop_reason parse_frame(struct pkt *p);

// Validates p->vnet against the parsed frame: NEEDS_CSUM only with csum_start = l4_off and
// csum_offset 16 (TCP) or 6 (UDP) of an unfragmented packet; GSO type against family and protocol,
// with the ECN bit masked off for the comparison; gso_size >= VNET_GSO_SIZE_MIN, at most
// VNET_GSO_SEGS_MAX segments, GSO only with NEEDS_CSUM and with payload left; UFO refused. Clears
// hdr_len to the real header length for GSO and DATA_VALID (ignored on send). Frames without GSO
// must not be longer than mtu + 14, else DROP_TOO_BIG is returned (the caller may answer with an
// ICMP error); a GSO frame's segment must fit. An SCTP packet with NEEDS_CSUM gets its CRC32c here,
// in place: no flag can ask for it later.
enum drop_reason vnet_check(struct pkt *p, uint32_t mtu);

// ARP request or reply as read from p (PKT_F_ARP). Only Ethernet/IPv4, op 1 or 2, length >= 28.
struct arp_view {
	uint16_t op; // 1 request, 2 reply, host order
	struct macaddr sender_mac, target_mac;
	struct ipaddr sender, target; // v4-mapped
};
enum drop_reason parse_arp(const struct pkt *p, struct arp_view *ret);

// Neighbour solicitation or advertisement (RFC 4861): hop limit 255, checksum, code 0, options
// walked with bounds (length 0 refused). type 135 or 136; other ND types (RS, RA, redirect) give
// only `type`.
struct nd_view {
	uint8_t type;
	struct ipaddr target;
	bool has_link_addr; // source (NS) or target (NA) link-layer address option
	struct macaddr link_addr;
};
enum drop_reason parse_nd(const struct pkt *p, struct nd_view *ret);
