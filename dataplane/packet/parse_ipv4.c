// SPDX-License-Identifier: Apache-2.0
#include "packet/bytes.h"
#include "packet/csum.h"
#include "packet/parse_parts.h"
#include "packet/proto.h"

enum { OPTION_END = 0, OPTION_NOP = 1, OPTION_LSRR = 131, OPTION_SSRR = 137 };

// Source routes choose the way past every decision made here (RFC 7126 4.3, 4.4). Options whose
// lengths do not add up are refused with them, since the next host may read them in another way.
static bool has_bad_options(const uint8_t *h, uint32_t size)
{
	uint32_t at = PROTO_IPV4_SIZE;

	while (at < size && h[at] != OPTION_END) {
		if (h[at] == OPTION_NOP) {
			at++;
			continue;
		}
		if (h[at] == OPTION_LSRR || h[at] == OPTION_SSRR)
			return true;
		if (size - at < 2 || h[at + 1] < 2 || h[at + 1] > size - at)
			return true;
		at += h[at + 1];
	}
	return false;
}

static void set_mapped(struct ipaddr *ret, const uint8_t *addr)
{
	ret->b[10] = ret->b[11] = 0xff;
	memcpy(ret->b + 12, addr, 4);
}

static enum drop_reason parse_piece(struct pkt *p, uint32_t bits, uint32_t off)
{
	const struct parse_fragment f = {
		.offset = (bits & PROTO_IPV4_OFFSET) * 8,
		.payload = p->len - off,
		.head = off - p->l3_off,
		.more = bits & PROTO_IPV4_MF,
	};
	const enum drop_reason reason = parse_fragment(p, &f);

	if (reason != DROP_NONE || (p->flags & PKT_F_FRAG_LATER))
		return reason;
	return parse_l4(p, off);
}

// Summed with its own field a good header gives zero (RFC 1071). The header without options is
// summed here, since that is nearly every packet.
static bool has_good_csum(const uint8_t *h, uint32_t size)
{
	uint64_t a, b;
	uint32_t c;

	if (UNLIKELY(size != PROTO_IPV4_SIZE))
		return csum_finish(csum_partial(h, size, 0)) == 0;
	memcpy(&a, h, sizeof(a));
	memcpy(&b, h + 8, sizeof(b));
	memcpy(&c, h + 16, sizeof(c));
	a = (a >> 32) + (uint32_t)a + (b >> 32) + (uint32_t)b + c;
	a = (a >> 32) + (uint32_t)a;
	a = (a >> 16) + (a & 0xffff);
	return (uint16_t)((a >> 16) + (a & 0xffff)) == 0xffff;
}

// Lengths and checksum of the header with room bytes left in the frame.
static enum drop_reason check_header(const uint8_t *h, uint32_t room)
{
	uint32_t size, total;

	if (UNLIKELY(room < PROTO_IPV4_SIZE))
		return DROP_PARSE_SHORT;
	if (UNLIKELY(h[0] >> 4 != 4))
		return DROP_PARSE_IP_VERSION;
	size = (h[0] & 15u) * 4;
	total = bytes_get16(h + 2);
	if (UNLIKELY(size < PROTO_IPV4_SIZE || total < size || total > room))
		return DROP_PARSE_IP_LENGTH;
	if (UNLIKELY(!has_good_csum(h, size)))
		return DROP_PARSE_IP_CSUM;
	if (UNLIKELY(size > PROTO_IPV4_SIZE && has_bad_options(h, size)))
		return DROP_PARSE_IP_OPTIONS;
	return DROP_NONE;
}

enum drop_reason parse_ipv4(struct pkt *p)
{
	const uint8_t *h = p->data + p->l3_off;
	const enum drop_reason reason = check_header(h, p->len - p->l3_off);
	uint32_t bits, off;

	if (UNLIKELY(reason != DROP_NONE))
		return reason;
	p->len = p->l3_off + bytes_get16(h + 2);
	p->flags |= PKT_F_IPV4;
	p->ttl = h[8];
	p->proto = h[9];
	p->key.proto = p->proto;
	set_mapped(&p->key.src, h + 12);
	set_mapped(&p->key.dst, h + 16);
	off = p->l3_off + (h[0] & 15u) * 4;
	bits = bytes_get16(h + 6) & (PROTO_IPV4_MF | PROTO_IPV4_OFFSET);
	return LIKELY(bits == 0) ? parse_l4(p, off) : parse_piece(p, bits, off);
}
