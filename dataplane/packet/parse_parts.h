// SPDX-License-Identifier: Apache-2.0
// What the files of the parser call among themselves; nobody else includes this.
//
// Each part reads on behind the one before it: p->len and p->l3_off are right, everything before
// the given offset was checked. Results as parse_frame. Pure functions.
#pragma once

#include "packet/parse.h"

// IPv4 at l3_off, then L4.
enum drop_reason parse_ipv4(struct pkt *p);
// IPv6 at l3_off, its extension headers, then L4.
enum drop_reason parse_ipv6(struct pkt *p);

struct parse_fragment {
	uint32_t offset;  // bytes of the datagram before this piece
	uint32_t payload; // bytes in this piece
	uint32_t head;    // bytes of headers that count into the datagram's length
	bool more;        // further pieces follow
};
// Checks one fragment of p->proto and marks p and its key. RFC 1858, 3128, 8200 4.5.
enum drop_reason parse_fragment(struct pkt *p, const struct parse_fragment *f);

// Bytes of the fixed header of p->proto; 0: a protocol without a header that we read.
uint32_t parse_l4_size(const struct pkt *p);
// L4 header at off: sets l4_off, PKT_F_L4, PKT_F_ND and the ports of the key (no ports in
// fragments).
enum drop_reason parse_l4(struct pkt *p, uint32_t off);
