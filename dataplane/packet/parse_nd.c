// SPDX-License-Identifier: Apache-2.0
#include "packet/bytes.h"
#include "packet/csum.h"
#include "packet/parse.h"
#include "packet/proto.h"

enum { OPTION_SOURCE_LINK = 1, OPTION_TARGET_LINK = 2 };

#define OPTION_UNIT 8 // bytes; a link-layer option of Ethernet is one unit
#define FLAG_SOLICITED 0x40
#define HOP_LIMIT 255 // proves that no router forwarded it (RFC 4861 3.1)

static bool is_multicast(const uint8_t *addr)
{
	return addr[0] == 0xff;
}

static bool is_unspecified(const struct ipaddr *a)
{
	static const struct ipaddr none;

	return memcmp(a, &none, sizeof(none)) == 0;
}

// One option with room bytes left. A second link-layer address is refused: readers differ on which
// one counts, and the guard must judge the one that is believed.
static bool take_option(const uint8_t *o, uint32_t room, struct nd_view *v)
{
	const uint8_t wanted = v->type == PROTO_ICMP6_NS ? OPTION_SOURCE_LINK : OPTION_TARGET_LINK;

	if (room < OPTION_UNIT || o[1] == 0 || o[1] * OPTION_UNIT > room)
		return false;
	if (o[0] != wanted)
		return true;
	if (o[1] != 1 || v->has_link_addr)
		return false;
	v->has_link_addr = true;
	memcpy(&v->link_addr, o + 2, sizeof(v->link_addr));
	return true;
}

static bool take_options(const uint8_t *o, uint32_t room, struct nd_view *v)
{
	while (room > 0) {
		if (!take_option(o, room, v))
			return false;
		room -= o[1] * OPTION_UNIT;
		o += o[1] * OPTION_UNIT;
	}
	return true;
}

// RFC 4861 7.1.1 and 7.1.2. A mapped target would be taken for an IPv4 address by all that follows.
static bool is_valid(const struct pkt *p, const uint8_t *h, const struct nd_view *v)
{
	if (is_multicast(v->target.b) || ipaddr_is_v4(&v->target))
		return false;
	if (v->type == PROTO_ICMP6_NS)
		return !is_unspecified(&p->key.src) ||
		       (!v->has_link_addr && is_multicast(p->key.dst.b));
	return !is_multicast(p->key.dst.b) || !(h[4] & FLAG_SOLICITED);
}

enum drop_reason parse_nd(const struct pkt *p, struct nd_view *ret)
{
	const uint8_t *h = p->data + p->l4_off;
	const uint32_t room = p->len - p->l4_off;
	struct nd_view v = {0};

	if (!(p->flags & PKT_F_ND) || p->ttl != HOP_LIMIT || h[1] != 0 ||
	    csum_l4(p) != bytes_raw16(h + 2))
		return DROP_PARSE_ND;
	v.type = h[0];
	if (v.type == PROTO_ICMP6_NS || v.type == PROTO_ICMP6_NA) {
		if (room < PROTO_ND_SIZE)
			return DROP_PARSE_ND;
		v.target = ipaddr_from_v6(h + 8);
		if (!take_options(h + PROTO_ND_SIZE, room - PROTO_ND_SIZE, &v) ||
		    !is_valid(p, h, &v))
			return DROP_PARSE_ND;
	}
	*ret = v;
	return DROP_NONE;
}
