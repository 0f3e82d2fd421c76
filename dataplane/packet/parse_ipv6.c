// SPDX-License-Identifier: Apache-2.0
#include "packet/bytes.h"
#include "packet/parse_parts.h"
#include "packet/proto.h"

#define EXT_UNIT 8         // bytes; also the size of the shortest extension header
#define FRAG_OFFSET 0xfff8 // already in bytes
#define FRAG_MORE 1

// The walk along the extension headers.
struct walk {
	uint32_t off;   // of the next header, bytes from data
	unsigned count; // headers seen
	bool has_frag;  // a fragment header among them
};

// The headers that the kernel's own walk knows (ipv6_ext_hdr); anything else is an upper layer.
static bool is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_FRAGMENT ||
	       proto == IPPROTO_AH || proto == IPPROTO_DSTOPTS;
}

static uint32_t extension_size(uint8_t proto, const uint8_t *h)
{
	if (proto == IPPROTO_FRAGMENT)
		return EXT_UNIT;
	if (proto == IPPROTO_AH)
		return (h[1] + 2u) * 4;
	return (h[1] + 1u) * EXT_UNIT;
}

// A packet that is alone but carries a fragment header is a whole one (RFC 6946).
static enum drop_reason take_fragment(struct pkt *p, struct walk *w, const uint8_t *h)
{
	const uint32_t bits = bytes_get16(h + 2);
	const struct parse_fragment f = {
		.offset = bits & FRAG_OFFSET,
		.payload = p->len - w->off - EXT_UNIT,
		.head = w->off - p->l3_off - PROTO_IPV6_SIZE,
		.more = bits & FRAG_MORE,
	};

	if (w->has_frag)
		return DROP_PARSE_FRAGMENT;
	w->has_frag = true;
	p->proto = h[0];
	return f.offset == 0 && !f.more ? DROP_NONE : parse_fragment(p, &f);
}

static enum drop_reason take_extension(struct pkt *p, struct walk *w)
{
	const uint8_t *h = p->data + w->off;
	const uint32_t room = p->len - w->off;
	enum drop_reason reason = DROP_NONE;
	uint32_t size;

	if (w->count == PARSE_EXT_MAX || room < EXT_UNIT)
		return DROP_PARSE_EXT_HEADERS;
	size = extension_size(p->proto, h);
	if (size > room)
		return DROP_PARSE_EXT_HEADERS;
	// RFC 8200 4.1: hop-by-hop comes first; RFC 5095: type 0 is a reflector for amplification.
	if ((p->proto == IPPROTO_HOPOPTS && w->count > 0) ||
	    (p->proto == IPPROTO_ROUTING && h[2] == 0))
		return DROP_PARSE_EXT_HEADERS;
	if (p->proto == IPPROTO_FRAGMENT)
		reason = take_fragment(p, w, h);
	p->proto = h[0];
	w->off += size;
	w->count++;
	return reason;
}

// A later fragment ends the walk: what follows is the middle of something.
static enum drop_reason parse_extensions(struct pkt *p, uint32_t off)
{
	struct walk w = {.off = off};
	enum drop_reason reason = DROP_NONE;

	while (reason == DROP_NONE && is_extension(p->proto) && !(p->flags & PKT_F_FRAG_LATER))
		reason = take_extension(p, &w);
	p->key.proto = p->proto;
	if (reason != DROP_NONE || (p->flags & PKT_F_FRAG_LATER))
		return reason;
	return parse_l4(p, w.off);
}

// On the wire such an address is forged (RFC 4942 2.2), and its key would be that of an IPv4
// packet.
static bool is_mapped(const uint8_t *addr)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(addr, prefix, sizeof(prefix)) == 0;
}

static enum drop_reason check_header(const uint8_t *h, uint32_t room)
{
	uint32_t payload;

	if (UNLIKELY(room < PROTO_IPV6_SIZE))
		return DROP_PARSE_SHORT;
	if (UNLIKELY(h[0] >> 4 != 6))
		return DROP_PARSE_IP_VERSION;
	payload = bytes_get16(h + 4);
	if (UNLIKELY(payload > room - PROTO_IPV6_SIZE))
		return DROP_PARSE_IP_LENGTH;
	// Length 0 with a payload is a jumbogram (RFC 2675).
	if (UNLIKELY(payload == 0 && h[6] != IPPROTO_NONE))
		return DROP_PARSE_IP_LENGTH;
	if (UNLIKELY(is_mapped(h + 8) || is_mapped(h + 24)))
		return DROP_PARSE_IP_VERSION;
	return DROP_NONE;
}

enum drop_reason parse_ipv6(struct pkt *p)
{
	const uint8_t *h = p->data + p->l3_off;
	const enum drop_reason reason = check_header(h, p->len - p->l3_off);
	const uint32_t off = p->l3_off + PROTO_IPV6_SIZE;

	if (UNLIKELY(reason != DROP_NONE))
		return reason;
	p->len = off + bytes_get16(h + 4);
	p->flags |= PKT_F_IPV6;
	p->ttl = h[7];
	p->proto = h[6];
	memcpy(&p->key.src, h + 8, sizeof(p->key.src));
	memcpy(&p->key.dst, h + 24, sizeof(p->key.dst));
	if (UNLIKELY(is_extension(p->proto)))
		return parse_extensions(p, off);
	p->key.proto = p->proto;
	return parse_l4(p, off);
}
