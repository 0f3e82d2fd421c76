// SPDX-License-Identifier: Apache-2.0
// Answers to "who has this address": ARP and neighbour discovery.
#include "packet/build.h"

#include "packet/build_parts.h"
#include "packet/bytes.h"
#include "packet/proto.h"

#define ARP_REQUEST 1
#define ARP_REPLY 2
#define ND_OPTION_TARGET_LINK 2
// A gateway must say that it is a router: without that flag hosts take their default route away
// (RFC 4861 7.2.5).
#define ND_FLAGS 0xe0 // router, solicited, override
#define ND_HOP_LIMIT 255

// A probe's sender is 0.0.0.0: it looks for a holder of its own address (RFC 5227), not for ours.
static bool is_arp_answerable(const struct arp_view *request)
{
	return request->op == ARP_REQUEST && !(request->sender_mac.b[0] & 1) &&
	       ipaddr_is_unicast(&request->sender) && ipaddr_is_unicast(&request->target);
}

uint32_t build_arp_reply(const struct arp_view *request, const struct macaddr *our_mac,
			 uint8_t *out)
{
	static const uint8_t head[8] = {0, 1, 8, 0, 6, 4, 0, ARP_REPLY};
	uint8_t *h;

	if (!is_arp_answerable(request))
		return 0;
	h = build_eth(out, &request->sender_mac, our_mac, PROTO_ETH_ARP);
	memcpy(h, head, sizeof(head));
	memcpy(h + 8, our_mac->b, 6);
	memcpy(h + 14, request->target.b + 12, 4);
	memcpy(h + 18, request->sender_mac.b, 6);
	memcpy(h + 24, request->sender.b + 12, 4);
	return PROTO_ETH_SIZE + PROTO_ARP_SIZE;
}

uint32_t build_nd_advert(const struct pkt *p, const struct nd_view *ns,
			 const struct macaddr *our_mac, uint8_t *out)
{
	const struct build_ip ip = {
		.src = ns->target,
		.dst = p->key.src,
		.proto = IPPROTO_ICMPV6,
		.ttl = ND_HOP_LIMIT,
		.payload = PROTO_ND_SIZE + 8,
	};
	uint8_t *h;

	if (ns->type != PROTO_ICMP6_NS || !(p->flags & PKT_F_IPV6) || !build_has_sender(p) ||
	    ipaddr_is_v4(&ns->target) || !ipaddr_is_unicast(&ns->target))
		return 0;
	h = build_answer(out, p, our_mac, &ip);
	if (ns->has_link_addr && !(ns->link_addr.b[0] & 1))
		memcpy(out, ns->link_addr.b, sizeof(ns->link_addr.b));
	memset(h, 0, ip.payload);
	h[0] = PROTO_ICMP6_NA;
	h[4] = ND_FLAGS;
	memcpy(h + 8, ns->target.b, 16);
	h[24] = ND_OPTION_TARGET_LINK;
	h[25] = 1;
	memcpy(h + 26, our_mac->b, 6);
	build_icmp_csum(h, &ip);
	return PROTO_ETH_SIZE + PROTO_IPV6_SIZE + ip.payload;
}
