// SPDX-License-Identifier: Apache-2.0
#include "packet/csum.h"

#include "packet/bytes.h"
#include "packet/proto.h"

#define UDP_CSUM_AT 6
#define IPV4_CSUM_AT 10
#define IPV4_TTL_AT 8
#define IPV6_HOPS_AT 7

static uint64_t load64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

// One's complement addition: a carry out of the top comes in at the bottom.
static uint64_t add64(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

static uint32_t fold32(uint64_t sum)
{
	sum = (sum >> 32) + (uint32_t)sum;
	return (uint32_t)((sum >> 32) + (uint32_t)sum);
}

static uint16_t fold16(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)((sum >> 16) + (sum & 0xffff));
}

// Less than 8 bytes; an odd last byte is the first one of a word whose second is zero.
static uint64_t sum_tail(const uint8_t *at, size_t size)
{
	uint8_t odd[2] = {0};
	uint64_t sum = 0;
	uint32_t v;

	if (size & 4) {
		memcpy(&v, at, sizeof(v));
		sum = v;
		at += 4;
	}
	if (size & 2) {
		sum += bytes_raw16(at);
		at += 2;
	}
	if (size & 1) {
		odd[0] = *at;
		sum += bytes_raw16(odd);
	}
	return sum;
}

// Four sums side by side, so that the additions do not wait for each other's carry.
static uint64_t sum_blocks(const uint8_t *at, size_t blocks)
{
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (; blocks > 0; blocks--, at += 32) {
		a = add64(a, load64(at));
		b = add64(b, load64(at + 8));
		c = add64(c, load64(at + 16));
		d = add64(d, load64(at + 24));
	}
	return add64(add64(a, b), add64(c, d));
}

uint32_t csum_partial(const void *data, size_t size, uint32_t start)
{
	const uint8_t *at = data;
	uint64_t sum = start;

	if (size >= 32) {
		sum = add64(sum, sum_blocks(at, size / 32));
		at += size & ~(size_t)31;
		size &= 31;
	}
	for (; size >= 8; size -= 8, at += 8)
		sum = add64(sum, load64(at));
	sum = add64(sum, sum_tail(at, size));
	return fold32(sum);
}

uint16_t csum_finish(uint32_t sum)
{
	return (uint16_t)~fold16(sum);
}

static bool is_mapped(const struct ipaddr *a)
{
	return load64(a->b) == 0 && bytes_get32(a->b + 8) == 0xffff;
}

uint32_t csum_pseudo(const struct ipaddr *src, const struct ipaddr *dst, uint8_t proto,
		     uint32_t l4_len)
{
	uint32_t tail[2] = {htobe32(l4_len), htobe32(proto)};
	const uint32_t sum = csum_partial(tail, sizeof(tail), 0);

	// The mapping prefix adds 0xffff, which is zero; leaving it out keeps the sum that of IPv4.
	if (is_mapped(src))
		return csum_partial(src->b + 12, 4, csum_partial(dst->b + 12, 4, sum));
	return csum_partial(src->b, 16, csum_partial(dst->b, 16, sum));
}

uint16_t csum_ipv4(const void *header, size_t size)
{
	const uint8_t *h = header;
	const uint32_t sum = csum_partial(h, IPV4_CSUM_AT, 0);

	return csum_finish(csum_partial(h + IPV4_CSUM_AT + 2, size - IPV4_CSUM_AT - 2, sum));
}

uint16_t csum_update16(uint16_t field, uint16_t old_word, uint16_t new_word)
{
	return csum_finish((uint32_t)(uint16_t)~field + (uint16_t)~old_word + new_word);
}

void csum_dec_ttl(uint8_t *h, bool is_v4)
{
	uint16_t old_word, field;

	if (!is_v4) {
		h[IPV6_HOPS_AT]--;
		return;
	}
	old_word = bytes_raw16(h + IPV4_TTL_AT);
	h[IPV4_TTL_AT]--;
	field = csum_update16(bytes_raw16(h + IPV4_CSUM_AT), old_word,
			      bytes_raw16(h + IPV4_TTL_AT));
	bytes_set_raw16(h + IPV4_CSUM_AT, field);
}

// Where the checksum stands in the L4 header.
static uint32_t field_at(uint8_t proto)
{
	return proto == IPPROTO_TCP ? 16 : proto == IPPROTO_UDP ? UDP_CSUM_AT : 2;
}

uint16_t csum_l4(const struct pkt *p)
{
	const uint8_t *h = p->data + p->l4_off;
	const uint32_t at = field_at(p->proto);
	uint32_t size = p->len - p->l4_off, sum = 0;
	uint16_t field;

	// UDP may be shorter than the packet that carries it (RFC 768); the rest is not summed.
	if (p->proto == IPPROTO_UDP)
		size = bytes_get16(h + 4);
	if (p->proto != IPPROTO_ICMP)
		sum = csum_pseudo(&p->key.src, &p->key.dst, p->proto, size);
	sum = csum_partial(h, at, sum);
	// The field ends on an even offset, so the second part starts a new word.
	field = csum_finish(csum_partial(h + at + 2, size - at - 2, sum));
	return p->proto == IPPROTO_UDP && field == 0 ? 0xffff : field;
}

void csum_complete(struct pkt *p)
{
	struct vnet_hdr *v = &p->vnet;
	uint8_t *from = p->data + v->csum_start;
	uint16_t field = csum_finish(csum_partial(from, p->len - v->csum_start, 0));

	// Zero would say "no checksum"; TCP may send either form of zero.
	if (field == 0 && v->csum_offset == UDP_CSUM_AT)
		field = 0xffff;
	bytes_set_raw16(from + v->csum_offset, field);
	*v = (struct vnet_hdr){0};
}
