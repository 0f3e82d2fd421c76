// SPDX-License-Identifier: Apache-2.0
// ICMP and ICMPv6: echo replies and errors.
#include "packet/build.h"

#include "packet/build_parts.h"
#include "packet/bytes.h"
#include "packet/csum.h"
#include "packet/proto.h"

#define ANSWER_TTL 64
#define ERROR_TOS 0xc0      // internetwork control (RFC 1812 4.3.2.5)
#define IPV4_ERROR_MAX 576  // bytes of IP packet (RFC 1812 4.3.2.3)
#define IPV6_ERROR_MAX 1280 // bytes of IP packet (RFC 4443 2.4 c)

static bool is_v4(const struct pkt *p)
{
	return p->flags & PKT_F_IPV4;
}

static uint32_t ip_size(const struct pkt *p)
{
	return is_v4(p) ? PROTO_IPV4_SIZE : PROTO_IPV6_SIZE;
}

static bool is_echo_request(const struct pkt *p)
{
	const uint8_t *h = p->data + p->l4_off;

	if ((p->flags & (PKT_F_L4 | PKT_F_FRAG)) != PKT_F_L4 || h[1] != 0)
		return false;
	return is_v4(p) ? p->proto == IPPROTO_ICMP && h[0] == PROTO_ICMP4_ECHO
			: p->proto == IPPROTO_ICMPV6 && h[0] == PROTO_ICMP6_ECHO;
}

// Options and extension headers of the request are not repeated.
uint32_t build_echo_reply(const struct pkt *p, const struct macaddr *our_mac, uint8_t *out)
{
	const struct build_ip ip = {
		.src = p->key.dst,
		.dst = p->key.src,
		.proto = p->proto,
		.ttl = ANSWER_TTL,
		.payload = p->len - p->l4_off,
	};
	const uint32_t size = PROTO_ETH_SIZE + ip_size(p) + ip.payload;
	uint8_t *h;

	if (!is_echo_request(p) || size > BUILD_FRAME_MAX || !build_has_sender(p) ||
	    !ipaddr_is_unicast(&p->key.dst) || csum_l4(p) != bytes_raw16(p->data + p->l4_off + 2))
		return 0;
	h = build_answer(out, p, our_mac, &ip);
	memcpy(h, p->data + p->l4_off, ip.payload);
	h[0] = is_v4(p) ? PROTO_ICMP4_ECHO_REPLY : PROTO_ICMP6_ECHO_REPLY;
	build_icmp_csum(h, &ip);
	return size;
}

// Errors are answered about queries and other protocols, never about errors or what may be one.
static bool is_icmp_error(const struct pkt *p)
{
	const uint8_t type = p->data[p->l4_off];

	if (p->proto == IPPROTO_ICMPV6)
		return !(p->flags & PKT_F_L4) || type < PROTO_ICMP6_ECHO ||
		       type == PROTO_ICMP6_REDIRECT;
	if (p->proto != IPPROTO_ICMP)
		return false;
	return !(p->flags & PKT_F_L4) ||
	       (type != PROTO_ICMP4_ECHO && type != PROTO_ICMP4_ECHO_REPLY &&
		(type < PROTO_ICMP4_TIMESTAMP || type > PROTO_ICMP4_MASK_REPLY));
}

static bool may_report(const struct pkt *p, const struct build_error *e)
{
	if (!build_has_sender(p) || (p->flags & PKT_F_FRAG_LATER) || (p->data[0] & 1))
		return false;
	return ipaddr_is_unicast(&p->key.dst) && ipaddr_is_v4(&e->source) == is_v4(p) &&
	       !is_icmp_error(p);
}

struct code {
	uint8_t type, code;
};

static struct code code_of(enum build_icmp kind, bool v4)
{
	static const struct code codes[][2] = {
		[BUILD_TTL_EXCEEDED] = {{PROTO_ICMP6_TIME_EXCEEDED, 0},
					{PROTO_ICMP4_TIME_EXCEEDED, 0}},
		[BUILD_NET_UNREACHABLE] = {{PROTO_ICMP6_UNREACHABLE, 0},
					   {PROTO_ICMP4_UNREACHABLE, 0}},
		[BUILD_HOST_UNREACHABLE] = {{PROTO_ICMP6_UNREACHABLE, 3},
					    {PROTO_ICMP4_UNREACHABLE, 1}},
		[BUILD_PORT_UNREACHABLE] = {{PROTO_ICMP6_UNREACHABLE, 4},
					    {PROTO_ICMP4_UNREACHABLE, 3}},
		[BUILD_TOO_BIG] = {{PROTO_ICMP6_TOO_BIG, 0}, {PROTO_ICMP4_UNREACHABLE, 4}},
	};

	return codes[kind][v4];
}

// The word behind the checksum: zero but for the MTU, which has 16 bits in IPv4.
static uint32_t rest_of_header(const struct build_error *e, bool v4)
{
	if (e->kind != BUILD_TOO_BIG)
		return 0;
	return v4 && e->mtu > UINT16_MAX ? UINT16_MAX : e->mtu;
}

static uint32_t quote_size(const struct pkt *p)
{
	const uint32_t limit = is_v4(p) ? IPV4_ERROR_MAX : IPV6_ERROR_MAX;
	const uint32_t room = limit - ip_size(p) - PROTO_ICMP_SIZE;
	const uint32_t size = p->len - p->l3_off;

	return size < room ? size : room;
}

uint32_t build_icmp_error(const struct pkt *p, const struct build_error *e, uint8_t *out)
{
	const uint32_t quote = quote_size(p);
	const bool v4 = is_v4(p);
	const struct code code = code_of(e->kind, v4);
	const struct build_ip ip = {
		.src = e->source,
		.dst = p->key.src,
		.proto = v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6,
		.ttl = ANSWER_TTL,
		.tos = v4 ? ERROR_TOS : 0,
		.payload = PROTO_ICMP_SIZE + quote,
	};
	uint8_t *h;

	if (!may_report(p, e))
		return 0;
	h = build_answer(out, p, &e->our_mac, &ip);
	h[0] = code.type;
	h[1] = code.code;
	bytes_put32(h + 4, rest_of_header(e, v4));
	memcpy(h + PROTO_ICMP_SIZE, p->data + p->l3_off, quote);
	build_icmp_csum(h, &ip);
	return PROTO_ETH_SIZE + ip_size(p) + ip.payload;
}
