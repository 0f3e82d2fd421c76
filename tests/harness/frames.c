// SPDX-License-Identifier: Apache-2.0
#include "harness/frames.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { ETH = 14, PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ICMP6 = 58 };

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t sum_bytes(const uint8_t *p, uint32_t n, uint32_t sum)
{
	for (uint32_t i = 0; i < n; i++)
		sum += (i & 1) ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static bool is_v6(const char *text)
{
	return strchr(text, ':') != NULL;
}

static uint32_t l4_header(const struct frame_spec *s, uint8_t *l4)
{
	switch (s->proto) {
	case PROTO_TCP:
		put16(l4, s->sport);
		put16(l4 + 2, s->dport);
		l4[12] = 5 << 4;
		l4[13] = 0x10;
		put16(l4 + 14, 64240);
		return 20;
	case PROTO_UDP:
		put16(l4, s->sport);
		put16(l4 + 2, s->dport);
		put16(l4 + 4, 8u + s->payload);
		return 8;
	case PROTO_ICMP:
	case PROTO_ICMP6:
		put16(l4, s->sport);
		put16(l4 + 4, s->dport);
		return 8;
	default:
		return 0;
	}
}

static uint32_t sum_offset(uint8_t proto)
{
	return proto == PROTO_TCP ? 16 : proto == PROTO_UDP ? 6 : 2;
}

static void finish_l4(const uint8_t *src, const uint8_t *dst, uint32_t alen, uint8_t proto,
		      uint8_t *l4, uint32_t len)
{
	uint32_t sum = 0;
	if (proto != PROTO_TCP && proto != PROTO_UDP && proto != PROTO_ICMP && proto != PROTO_ICMP6)
		return;
	if (proto != PROTO_ICMP)
		sum = sum_bytes(src, alen, sum_bytes(dst, alen, proto + len));
	sum = ~sum_bytes(l4, len, sum) & 0xffff;
	put16(l4 + sum_offset(proto), sum == 0 && proto == PROTO_UDP ? 0xffff : sum);
}

static uint32_t build_v4(const struct frame_spec *s, uint8_t *ip)
{
	uint8_t *l4 = ip + 20;
	uint32_t head = s->frag_off ? 0 : l4_header(s, l4);
	for (uint32_t i = 0; i < s->payload; i++)
		l4[head + i] = (uint8_t)i;
	ip[0] = 0x45;
	put16(ip + 2, 20 + head + s->payload);
	put16(ip + 6,
	      (s->dont_fragment ? 0x4000u : 0u) | (s->frag_more ? 0x2000u : 0u) | s->frag_off / 8u);
	ip[8] = s->ttl ? s->ttl : 64;
	ip[9] = s->proto;
	inet_pton(AF_INET, s->src, ip + 12);
	inet_pton(AF_INET, s->dst, ip + 16);
	put16(ip + 10, ~sum_bytes(ip, 20, 0) & 0xffff);
	if (!s->frag_off)
		finish_l4(ip + 12, ip + 16, 4, s->proto, l4, head + s->payload);
	return 20 + head + s->payload;
}

static uint32_t build_v6(const struct frame_spec *s, uint8_t *ip)
{
	uint32_t ext = s->frag ? 8 : 0;
	uint8_t *l4 = ip + 40 + ext;
	uint32_t head = s->frag_off ? 0 : l4_header(s, l4);
	for (uint32_t i = 0; i < s->payload; i++)
		l4[head + i] = (uint8_t)i;
	ip[0] = 0x60;
	put16(ip + 4, ext + head + s->payload);
	ip[6] = s->frag ? 44 : s->proto;
	ip[7] = s->ttl ? s->ttl : 64;
	inet_pton(AF_INET6, s->src, ip + 8);
	inet_pton(AF_INET6, s->dst, ip + 24);
	if (s->frag) {
		ip[40] = s->proto;
		put16(ip + 42, (uint32_t)s->frag_off | (s->frag_more ? 1u : 0u));
	}
	if (!s->frag_off)
		finish_l4(ip + 8, ip + 24, 16, s->proto, l4, head + s->payload);
	return 40 + ext + head + s->payload;
}

uint32_t frame_build(const struct frame_spec *s, uint8_t *out)
{
	bool v6 = is_v6(s->src);
	memset(out, 0, ETH + 40 + 8 + 20); // the longest headers; the payload is written whole
	memcpy(out, s->dst_mac.b, 6);
	memcpy(out + 6, s->src_mac.b, 6);
	put16(out + 12, v6 ? 0x86dd : 0x0800);
	return ETH + (v6 ? build_v6(s, out + ETH) : build_v4(s, out + ETH));
}

uint32_t frame_arp(uint16_t op, const struct macaddr *src, const struct macaddr *sender_mac,
		   const char *sender, const char *target, uint8_t *out)
{
	uint8_t *a = out + ETH;
	memset(out, 0, 42);
	memset(out, 0xff, 6);
	memcpy(out + 6, src->b, 6);
	put16(out + 12, 0x0806);
	put16(a, 1);
	put16(a + 2, 0x0800);
	a[4] = 6;
	a[5] = 4;
	put16(a + 6, op);
	memcpy(a + 8, sender_mac->b, 6);
	inet_pton(AF_INET, sender, a + 14);
	inet_pton(AF_INET, target, a + 24);
	return 42;
}

uint32_t frame_nd(uint8_t type, const struct macaddr *src_mac, const char *src, const char *target,
		  const struct macaddr *link_addr, uint8_t *out)
{
	uint8_t *ip = out + ETH, *nd = ip + 40;
	memset(out, 0, 86);
	memcpy(out, (uint8_t[]){0x33, 0x33, 0xff, 0, 0, 1}, 6);
	memcpy(out + 6, src_mac->b, 6);
	put16(out + 12, 0x86dd);
	ip[0] = 0x60;
	put16(ip + 4, 32);
	ip[6] = PROTO_ICMP6;
	ip[7] = 255;
	inet_pton(AF_INET6, src, ip + 8);
	inet_pton(AF_INET6, "ff02::1:ff00:1", ip + 24);
	nd[0] = type;
	inet_pton(AF_INET6, target, nd + 8);
	nd[24] = type == 135 ? 1 : 2;
	nd[25] = 1;
	memcpy(nd + 26, link_addr->b, 6);
	finish_l4(ip + 8, ip + 24, 16, PROTO_ICMP6, nd, 32);
	return 86;
}

uint32_t frame_hex(const char *hex, uint8_t *out)
{
	uint32_t n = 0;
	unsigned byte;
	while (sscanf(hex + 2 * n, "%2x", &byte) == 1)
		out[n++] = (uint8_t)byte;
	return n;
}

static bool l4_ok(const uint8_t *src, uint32_t alen, uint8_t proto, const uint8_t *l4, uint32_t len)
{
	uint32_t sum = 0;
	if (proto != PROTO_TCP && proto != PROTO_UDP && proto != PROTO_ICMP && proto != PROTO_ICMP6)
		return true;
	if (proto != PROTO_ICMP)
		sum = sum_bytes(src, 2 * alen, proto + len);
	return sum_bytes(l4, len, sum) == 0xffff;
}

bool frame_sums_ok(const uint8_t *f, uint32_t len)
{
	const uint8_t *ip = f + ETH;
	if (f[12] == 0x86 && f[13] == 0xdd)
		return l4_ok(ip + 8, 16, ip[6], ip + 40, len - ETH - 40);
	uint32_t head = (ip[0] & 15u) * 4;
	return sum_bytes(ip, head, 0) == 0xffff &&
	       l4_ok(ip + 12, 4, ip[9], ip + head, len - ETH - head);
}
