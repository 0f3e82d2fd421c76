// SPDX-License-Identifier: Apache-2.0
#include "packet/build_parts.h"

#include "packet/bytes.h"
#include "packet/csum.h"
#include "packet/proto.h"

uint8_t *build_eth(uint8_t *out, const struct macaddr *dst, const struct macaddr *src,
		   uint16_t type)
{
	memcpy(out, dst->b, sizeof(dst->b));
	memcpy(out + 6, src->b, sizeof(src->b));
	bytes_put16(out + 12, type);
	return out + PROTO_ETH_SIZE;
}

// The identification may stay 0, because a packet with DF set is never reassembled (RFC 6864 4.1).
static uint8_t *build_ipv4(uint8_t *h, const struct build_ip *ip)
{
	memset(h, 0, PROTO_IPV4_SIZE);
	h[0] = 0x45;
	h[1] = ip->tos;
	bytes_put16(h + 2, PROTO_IPV4_SIZE + ip->payload);
	bytes_put16(h + 6, PROTO_IPV4_DF);
	h[8] = ip->ttl;
	h[9] = ip->proto;
	memcpy(h + 12, ip->src.b + 12, 4);
	memcpy(h + 16, ip->dst.b + 12, 4);
	bytes_set_raw16(h + 10, csum_ipv4(h, PROTO_IPV4_SIZE));
	return h + PROTO_IPV4_SIZE;
}

static uint8_t *build_ipv6(uint8_t *h, const struct build_ip *ip)
{
	bytes_put32(h, 6u << 28 | (uint32_t)ip->tos << 20);
	bytes_put16(h + 4, ip->payload);
	h[6] = ip->proto;
	h[7] = ip->ttl;
	memcpy(h + 8, ip->src.b, 16);
	memcpy(h + 24, ip->dst.b, 16);
	return h + PROTO_IPV6_SIZE;
}

uint8_t *build_ip(uint8_t *at, const struct build_ip *ip)
{
	return ipaddr_is_v4(&ip->src) ? build_ipv4(at, ip) : build_ipv6(at, ip);
}

uint8_t *build_answer(uint8_t *out, const struct pkt *p, const struct macaddr *our_mac,
		      const struct build_ip *ip)
{
	struct macaddr sender;

	memcpy(sender.b, p->data + 6, sizeof(sender.b));
	return build_ip(build_eth(out, &sender, our_mac, p->eth_type), ip);
}

void build_icmp_csum(uint8_t *l4, const struct build_ip *ip)
{
	uint32_t sum = 0;

	bytes_set_raw16(l4 + 2, 0);
	if (ip->proto == IPPROTO_ICMPV6)
		sum = csum_pseudo(&ip->src, &ip->dst, ip->proto, ip->payload);
	bytes_set_raw16(l4 + 2, csum_finish(csum_partial(l4, ip->payload, sum)));
}

bool build_has_sender(const struct pkt *p)
{
	return (p->flags & (PKT_F_IPV4 | PKT_F_IPV6)) && !(p->data[6] & 1) &&
	       ipaddr_is_unicast(&p->key.src);
}
