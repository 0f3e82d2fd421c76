// SPDX-License-Identifier: Apache-2.0
#include "features/gateway/gateway_stage.h"

#include "features/gateway/gateway_fast.h"
#include "packet/parse.h"

static bool is_ours(const struct ipaddr *a)
{
	const struct gateway_set *s = gateway_set_get();
	for (unsigned i = 0; i < s->count; i++) {
		if (ipaddr_is_equal(&s->addrs[i], a))
			return true;
	}
	return false;
}

// Requests for our addresses only. A probe or announcement of the sender's own address (RFC 5227)
// asks for that address, which is never ours, so silence needs no case of its own. Replies teach us
// nothing.
static uint32_t answer_arp(const struct pkt *p, uint8_t *out, enum drop_reason *ret_reason)
{
	struct arp_view arp;
	*ret_reason = parse_arp(p, &arp);
	if (*ret_reason != DROP_NONE)
		return 0;
	*ret_reason = DROP_GATEWAY_IGNORED;
	if (arp.op != 1 || !is_ours(&arp.target))
		return 0;
	return build_arp_reply(&arp, &gateway_mac, out);
}

static uint32_t answer_nd(const struct pkt *p, uint8_t *out, enum drop_reason *ret_reason)
{
	struct nd_view nd;
	*ret_reason = parse_nd(p, &nd);
	if (*ret_reason != DROP_NONE)
		return 0;
	*ret_reason = DROP_GATEWAY_IGNORED;
	if (nd.type != 135 || !is_ours(&nd.target))
		return 0;
	return build_nd_advert(p, &nd, &gateway_mac, out);
}

uint32_t gateway_answer(const struct pkt *p, uint8_t *out, enum drop_reason *ret_reason)
{
	if (p->flags & PKT_F_ARP)
		return answer_arp(p, out, ret_reason);
	if (p->flags & PKT_F_ND)
		return answer_nd(p, out, ret_reason);
	*ret_reason = DROP_GATEWAY_IGNORED;
	return build_echo_reply(p, &gateway_mac, out);
}

// The address that errors come from: the first one of the packet's family that is not link-local,
// so that a traceroute shows something an operator can place.
static struct ipaddr error_source(bool v4)
{
	const struct gateway_set *s = gateway_set_get();
	for (unsigned i = 2; i < s->count; i++) {
		if (ipaddr_is_v4(&s->addrs[i]) == v4)
			return s->addrs[i];
	}
	return s->addrs[v4 ? 0 : 1];
}

uint32_t gateway_error(const struct pkt *p, enum build_icmp kind, uint32_t mtu, uint8_t *out)
{
	struct build_error e = {
		.kind = kind,
		.mtu = mtu,
		.source = error_source(p->flags & PKT_F_IPV4),
		.our_mac = gateway_mac,
	};
	return build_icmp_error(p, &e, out);
}
