// SPDX-License-Identifier: Apache-2.0
// One frame in flight and what is known of it. The only packet descriptor of the dataplane.
//
// A pkt is valid for one burst: `data` points into a receive ring block, a receive buffer or a pool
// mbuf that is given back when the burst ends. What must live longer is copied into a pool mbuf.
// Written by one worker; no locks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "packet/key.h"
#include "packet/vnet.h"

#define PKT_BURST 64    // most packets handled as one batch
#define PKT_HEADROOM 16 // writable bytes in front of data, at least (vnet_hdr is 10 of them)
#define PKT_LEN_MAX (64 * 1024 + 256) // bytes from the Ethernet header, a 64 KB GSO frame included

enum pkt_flags {
	PKT_F_IPV4 = 1 << 0,
	PKT_F_IPV6 = 1 << 1,
	PKT_F_ARP = 1 << 2,
	PKT_F_FRAG = 1 << 3,       // any fragment
	PKT_F_FRAG_LATER = 1 << 4, // not the first fragment: no L4 header
	PKT_F_L4 = 1 << 5,         // l4_off points at a complete TCP/UDP/SCTP/ICMP fixed header
	PKT_F_VLAN = 1 << 6,       // vlan_tci is a tag that the kernel took out of the frame
	PKT_F_ND = 1 << 7,         // ICMPv6 133..137
	PKT_F_OVERSIZE = 1 << 8,   // wire length was longer than what was captured
};

struct pkt {
	uint8_t *data;        // Ethernet header; PKT_HEADROOM writable bytes stand before it
	uint32_t len;         // bytes from data; parse cuts padding behind the IP length
	uint32_t flags;       // PKT_F_*
	uint16_t in_port;     // port id (core/port.h)
	uint16_t vlan_tci;    // host order; valid with PKT_F_VLAN
	uint16_t vlan_tpid;   // host order
	uint16_t eth_type;    // host order, after a VID-0 tag was taken off
	uint16_t l3_off;      // bytes from data
	uint16_t l4_off;      // bytes from data; 0 = none
	uint8_t proto;        // IP protocol after extension headers
	uint8_t ttl;          // TTL or hop limit
	struct vnet_hdr vnet; // local copy; validated by vnet_check, then authoritative
	uint32_t hash;        // of key
	struct flow_key key;
};
