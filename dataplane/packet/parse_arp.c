// SPDX-License-Identifier: Apache-2.0
#include "packet/bytes.h"
#include "packet/parse.h"
#include "packet/proto.h"

enum { HTYPE_ETHERNET = 1, OP_REQUEST = 1, OP_REPLY = 2 };

static struct ipaddr read_ipv4(const uint8_t *at)
{
	uint32_t be_addr;

	memcpy(&be_addr, at, sizeof(be_addr));
	return ipaddr_from_v4(be_addr);
}

enum drop_reason parse_arp(const struct pkt *p, struct arp_view *ret)
{
	const uint8_t *h = p->data + PROTO_ETH_SIZE;
	uint16_t op;

	if (!(p->flags & PKT_F_ARP) || p->len < PROTO_ETH_SIZE + PROTO_ARP_SIZE)
		return DROP_PARSE_ARP;
	op = bytes_get16(h + 6);
	if (bytes_get16(h) != HTYPE_ETHERNET || bytes_get16(h + 2) != PROTO_ETH_IPV4 || h[4] != 6 ||
	    h[5] != 4 || (op != OP_REQUEST && op != OP_REPLY))
		return DROP_PARSE_ARP;
	ret->op = op;
	memcpy(&ret->sender_mac, h + 8, sizeof(ret->sender_mac));
	memcpy(&ret->target_mac, h + 18, sizeof(ret->target_mac));
	ret->sender = read_ipv4(h + 14);
	ret->target = read_ipv4(h + 24);
	return DROP_NONE;
}
