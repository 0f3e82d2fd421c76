// SPDX-License-Identifier: Apache-2.0
// What must hold for any packet that parse_frame let through; shared by unit and fuzz tests.
// Written from the contract, without the parser's own helpers.
#pragma once

#include <string.h>

#include "packet/parse.h"

static inline bool sound_is_zero(const void *at, size_t size)
{
	const uint8_t *b = at;

	for (size_t i = 0; i < size; i++) {
		if (b[i] != 0)
			return false;
	}
	return true;
}

static inline bool sound_key(const struct pkt *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const struct flow_key *k = &p->key;
	const bool v4 = p->flags & PKT_F_IPV4;
	const bool v6 = p->flags & PKT_F_IPV6;

	if (k->in_port != p->in_port || k->proto != p->proto)
		return false;
	if (!v4 && !v6)
		return sound_is_zero(&k->src, 36) && k->proto == 0 && k->frag == 0;
	if ((memcmp(&k->src, mapped, 12) == 0) != v4 || (memcmp(&k->dst, mapped, 12) == 0) != v4)
		return false;
	if (!(p->flags & PKT_F_L4) || (p->flags & PKT_F_FRAG))
		return k->sport == 0 && k->dport == 0;
	return true;
}

static inline uint32_t sound_l4_size(const struct pkt *p)
{
	if (p->proto == 6)
		return (p->data[p->l4_off + 12] >> 4) * 4u;
	return p->proto == 132 ? 12 : 8;
}

static inline bool sound_fragment(const struct pkt *p)
{
	const bool frag = p->flags & PKT_F_FRAG, later = p->flags & PKT_F_FRAG_LATER;

	return p->key.frag == (later  ? 2
			       : frag ? 1
				      : 0) &&
	       (frag || !later) && !(later && (p->flags & PKT_F_L4));
}

// frame_len: what the packet was before parsing.
static inline bool sound_pkt(const struct pkt *p, uint32_t frame_len)
{
	const bool v4 = p->flags & PKT_F_IPV4, v6 = p->flags & PKT_F_IPV6;
	const bool l4 = p->flags & PKT_F_L4;

	if (p->len > frame_len || p->len < 14 || p->l3_off != 14 || (p->flags & PKT_F_VLAN))
		return false;
	if (v4 + v6 + !!(p->flags & PKT_F_ARP) != 1 || !sound_key(p) || !sound_fragment(p))
		return false;
	if (l4 != (p->l4_off != 0) || (p->flags & PKT_F_ND && !(l4 && v6)))
		return false;
	if ((v4 && p->len < 34) || (v6 && p->len < 54))
		return false;
	return !l4 || (p->l4_off >= (v4 ? 34 : 54) && p->l4_off + sound_l4_size(p) <= p->len);
}
