// SPDX-License-Identifier: Apache-2.0
// Frames that weftd itself writes: ARP and ND answers, ICMP echo replies, ICMP errors (RFC 792,
// RFC 4443).
//
// Each builder reads the parsed packet that caused it and writes a complete frame with exact
// checksums into out (BUILD_FRAME_MAX bytes). It returns the length, or 0 where no answer may be
// sent (RFC 1122 3.2.2, RFC 4443 2.4: never about an ICMP error, a later fragment, a multicast, or
// a source that is no unicast address). Pure functions.
#pragma once

#include "packet/parse.h"
#include "packet/pkt.h"

#define BUILD_FRAME_MAX 1294 // Ethernet + the IPv6 minimum MTU of 1280: no answer is longer

// Says that our_mac has the address asked for. 0 also for a host's probe for its own address.
uint32_t build_arp_reply(const struct arp_view *request, const struct macaddr *our_mac,
			 uint8_t *out);
// Solicited, override advertisement of a router with the target link-layer option.
uint32_t build_nd_advert(const struct pkt *p, const struct nd_view *ns,
			 const struct macaddr *our_mac, uint8_t *out);
// Echo reply to a whole echo request (at most BUILD_FRAME_MAX bytes), from our_mac back to its
// sender.
uint32_t build_echo_reply(const struct pkt *p, const struct macaddr *our_mac, uint8_t *out);

enum build_icmp {
	BUILD_TTL_EXCEEDED,     // 11/0, 3/0
	BUILD_NET_UNREACHABLE,  // 3/0, 1/0
	BUILD_HOST_UNREACHABLE, // 3/1, 1/3
	BUILD_PORT_UNREACHABLE, // 3/3, 1/4
	BUILD_TOO_BIG,          // 3/4 with mtu, 2/0 with mtu
};

struct build_error {
	enum build_icmp kind;
	uint32_t mtu;         // bytes, BUILD_TOO_BIG only
	struct ipaddr source; // of the error, same family as the packet
	struct macaddr our_mac;
};
// Quotes as much of the original as fits 576 (IPv4) or 1280 (IPv6) bytes of IP packet.
uint32_t build_icmp_error(const struct pkt *p, const struct build_error *e, uint8_t *out);
