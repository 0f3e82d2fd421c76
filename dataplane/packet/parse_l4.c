// SPDX-License-Identifier: Apache-2.0
#include "packet/bytes.h"
#include "packet/parse_parts.h"
#include "packet/proto.h"

uint32_t parse_l4_size(const struct pkt *p)
{
	switch (p->proto) {
	case IPPROTO_TCP:
		return PROTO_TCP_SIZE;
	case IPPROTO_UDP:
		return PROTO_UDP_SIZE;
	case IPPROTO_SCTP:
		return PROTO_SCTP_SIZE;
	case IPPROTO_ICMP:
		return p->flags & PKT_F_IPV4 ? PROTO_ICMP_SIZE : 0;
	case IPPROTO_ICMPV6:
		return p->flags & PKT_F_IPV6 ? PROTO_ICMP_SIZE : 0;
	default:
		return 0;
	}
}

// A piece that starts inside the L4 header would overwrite what was judged in the first one.
enum drop_reason parse_fragment(struct pkt *p, const struct parse_fragment *f)
{
	if (f->payload == 0 || (f->more && f->payload % 8 != 0))
		return DROP_PARSE_FRAGMENT;
	if (f->head + f->offset + f->payload > PROTO_IP_MAX)
		return DROP_PARSE_FRAGMENT;
	if (f->offset > 0 && f->offset < parse_l4_size(p))
		return DROP_PARSE_FRAGMENT;
	p->flags |= f->offset > 0 ? PKT_F_FRAG | PKT_F_FRAG_LATER : PKT_F_FRAG;
	p->key.frag = f->offset > 0 ? 2 : 1;
	return DROP_NONE;
}

// Why a packet that ends inside its L4 header is dropped.
static enum drop_reason cut_short(const struct pkt *p)
{
	return p->flags & PKT_F_FRAG ? DROP_PARSE_FRAGMENT : DROP_PARSE_L4;
}

static enum drop_reason check_tcp(const struct pkt *p, const uint8_t *h, uint32_t room)
{
	const uint32_t size = (h[12] >> 4) * 4u;

	if (UNLIKELY(size < PROTO_TCP_SIZE))
		return DROP_PARSE_L4;
	return LIKELY(size <= room) ? DROP_NONE : cut_short(p);
}

// The length counts the whole datagram: also that of a GSO frame, as the kernel writes it
// (udp_send_skb), and more than what is here in a first fragment.
static enum drop_reason check_udp(const struct pkt *p, const uint8_t *h, uint32_t room)
{
	const uint32_t size = bytes_get16(h + 4);

	if (UNLIKELY(size < PROTO_UDP_SIZE || (size > room && !(p->flags & PKT_F_FRAG))))
		return DROP_PARSE_L4;
	return DROP_NONE;
}

static bool is_echo(const struct pkt *p, const uint8_t *h)
{
	if (h[1] != 0)
		return false;
	return p->flags & PKT_F_IPV4 ? h[0] == PROTO_ICMP4_ECHO || h[0] == PROTO_ICMP4_ECHO_REPLY
				     : h[0] == PROTO_ICMP6_ECHO || h[0] == PROTO_ICMP6_ECHO_REPLY;
}

static enum drop_reason parse_icmp(struct pkt *p, const uint8_t *h)
{
	if ((p->flags & PKT_F_IPV6) && h[0] >= PROTO_ICMP6_ND_FIRST &&
	    h[0] <= PROTO_ICMP6_REDIRECT) {
		// RFC 6980: never fragmented, and never believed if it is.
		if (p->flags & PKT_F_FRAG)
			return DROP_PARSE_ND;
		p->flags |= PKT_F_ND;
	}
	if (p->flags & PKT_F_FRAG)
		return DROP_NONE;
	if (is_echo(p, h))
		p->key.sport = bytes_raw16(h + 4);
	else
		p->key.dport = bytes_raw16(h);
	return DROP_NONE;
}

// Only some fragments of a datagram hold its ports, so the key of none has them.
static enum drop_reason take_ports(struct pkt *p, const uint8_t *h)
{
	if (LIKELY(!(p->flags & PKT_F_FRAG))) {
		p->key.sport = bytes_raw16(h);
		p->key.dport = bytes_raw16(h + 2);
	}
	return DROP_NONE;
}

static enum drop_reason parse_header(struct pkt *p, const uint8_t *h, uint32_t room)
{
	enum drop_reason reason = DROP_NONE;

	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6)
		return parse_icmp(p, h);
	if (p->proto == IPPROTO_TCP)
		reason = check_tcp(p, h, room);
	else if (p->proto == IPPROTO_UDP)
		reason = check_udp(p, h, room);
	return LIKELY(reason == DROP_NONE) ? take_ports(p, h) : reason;
}

enum drop_reason parse_l4(struct pkt *p, uint32_t off)
{
	const uint32_t size = parse_l4_size(p);
	const uint32_t room = p->len - off;

	if (size == 0)
		return DROP_NONE;
	if (UNLIKELY(room < size))
		return cut_short(p);
	p->l4_off = (uint16_t)off;
	p->flags |= PKT_F_L4;
	return parse_header(p, p->data + off, room);
}
