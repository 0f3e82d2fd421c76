// SPDX-License-Identifier: Apache-2.0
#include <stdatomic.h>
#include <string.h>

#include "features/guard/guard.h"
#include "packet/parse.h"

enum { GUARD_PROTO_UDP = 17, GUARD_ND_NS = 135, GUARD_ND_NA = 136, GUARD_ND_RS = 133 };

static _Atomic uint16_t guard_tunnel_port = 4789;

void guard_set_tunnel_port(uint16_t udp_port)
{
	atomic_store_explicit(&guard_tunnel_port, udp_port, memory_order_relaxed);
}

static bool is_own(const struct port *port, const struct ipaddr *a)
{
	for (unsigned i = 0; i < port->addr_count; i++) {
		if (ipaddr_is_equal(&port->addrs[i], a))
			return true;
	}
	return false;
}

static bool is_zero(const struct ipaddr *a, bool v4)
{
	static const struct ipaddr zero4 = {{[10] = 0xff, [11] = 0xff}}, zero6;
	return ipaddr_is_equal(a, v4 ? &zero4 : &zero6);
}

// A sender address of 0 is a probe (RFC 5227 2.1.1) and claims nothing.
static enum drop_reason check_arp(const struct port *port, const struct pkt *p)
{
	struct arp_view arp;
	enum drop_reason r = parse_arp(p, &arp);
	if (r != DROP_NONE)
		return r;
	if (memcmp(arp.sender_mac.b, port->mac.b, 6) != 0)
		return DROP_GUARD_ARP;
	if (!is_own(port, &arp.sender) && !(arp.op == 1 && is_zero(&arp.sender, true)))
		return DROP_GUARD_ARP;
	return DROP_NONE;
}

// Solicitations may come from the pod's link-local address, which weftd does not hand out, or from
// :: (RFC 4862 5.4.2). Router advertisements and redirects are never a pod's business.
static enum drop_reason check_nd(const struct port *port, const struct pkt *p)
{
	struct nd_view nd;
	enum drop_reason r = parse_nd(p, &nd);
	if (r != DROP_NONE)
		return r;
	const struct ipaddr *src = &p->key.src;
	bool src_ok = is_own(port, src) || ipaddr_is_link_local(src) || is_zero(src, false);
	bool mac_ok = !nd.has_link_addr || memcmp(nd.link_addr.b, port->mac.b, 6) == 0;
	if (!src_ok || !mac_ok)
		return DROP_GUARD_ND;
	if (nd.type == GUARD_ND_NS || nd.type == GUARD_ND_RS)
		return DROP_NONE;
	bool own_target = is_own(port, &nd.target) || ipaddr_is_link_local(&nd.target);
	return nd.type == GUARD_ND_NA && own_target ? DROP_NONE : DROP_GUARD_ND;
}

// Read from the header, not from the key: the key of a fragment has no ports.
static bool is_tunnel(const struct pkt *p)
{
	if (p->proto != GUARD_PROTO_UDP || !(p->flags & PKT_F_L4))
		return false;
	const uint8_t *l4 = p->data + p->l4_off;
	uint16_t dport = (uint16_t)(l4[2] << 8 | l4[3]);
	return dport == atomic_load_explicit(&guard_tunnel_port, memory_order_relaxed);
}

static bool is_multicast(const struct ipaddr *a)
{
	return ipaddr_is_v4(a) ? (a->b[12] & 0xf0) == 0xe0 : a->b[0] == 0xff;
}

enum drop_reason guard_check(const struct port *port, const struct pkt *p)
{
	if (port->kind != PORT_KIND_POD)
		return DROP_NONE;
	if (memcmp(p->data + 6, port->mac.b, 6) != 0)
		return DROP_GUARD_SRC_MAC;
	if (p->flags & PKT_F_ARP)
		return check_arp(port, p);
	if (p->flags & PKT_F_ND)
		return check_nd(port, p);
	if (!is_own(port, &p->key.src)) {
		// The kernel of every pod reports its multicast groups from its link-local address
		// (RFC 3810); that is noise, not a forgery.
		bool noise = ipaddr_is_link_local(&p->key.src) && is_multicast(&p->key.dst);
		return noise ? DROP_MULTICAST : DROP_GUARD_SRC_IP;
	}
	if (ipaddr_is_equal(&p->key.src, &p->key.dst))
		return DROP_GUARD_SELF;
	return is_tunnel(p) ? DROP_GUARD_TUNNEL : DROP_NONE;
}
