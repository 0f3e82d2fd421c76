// SPDX-License-Identifier: Apache-2.0
#include "packet/parse.h"

#include "packet/bytes.h"
#include "packet/parse_parts.h"
#include "packet/proto.h"

#define TCI_VID 0x0fff
#define ETH_TYPE_AT 12 // behind both MACs

// A tag that the kernel moved into metadata. A priority tag (VID 0) means untagged (802.1Q 9.6).
static enum drop_reason take_metadata_tag(struct pkt *p)
{
	if (p->vlan_tpid != PROTO_ETH_VLAN || (p->vlan_tci & TCI_VID) != 0)
		return DROP_PARSE_VLAN;
	if (bytes_get16(p->data + ETH_TYPE_AT) == PROTO_ETH_VLAN)
		return DROP_PARSE_VLAN;
	p->flags &= ~(uint32_t)PKT_F_VLAN;
	return DROP_NONE;
}

static uint16_t sub_to_zero(uint16_t value, uint16_t n)
{
	return value > n ? (uint16_t)(value - n) : 0;
}

// Takes an inline VID-0 tag off. What counts bytes from the Ethernet header moves with it.
static enum drop_reason take_inline_tag(struct pkt *p)
{
	uint16_t type;

	if (p->len < PROTO_ETH_SIZE + PROTO_VLAN_SIZE)
		return DROP_PARSE_SHORT;
	type = bytes_get16(p->data + ETH_TYPE_AT + PROTO_VLAN_SIZE);
	if ((bytes_get16(p->data + PROTO_ETH_SIZE) & TCI_VID) != 0 || type == PROTO_ETH_VLAN ||
	    type == PROTO_ETH_QINQ)
		return DROP_PARSE_VLAN;
	memmove(p->data + PROTO_VLAN_SIZE, p->data, ETH_TYPE_AT);
	p->data += PROTO_VLAN_SIZE;
	p->len -= PROTO_VLAN_SIZE;
	p->vnet.hdr_len = sub_to_zero(p->vnet.hdr_len, PROTO_VLAN_SIZE);
	if (p->vnet.flags & VNET_F_NEEDS_CSUM)
		p->vnet.csum_start = sub_to_zero(p->vnet.csum_start, PROTO_VLAN_SIZE);
	return DROP_NONE;
}

// The network layer by EtherType, which stands right before l3_off.
static enum drop_reason parse_network(struct pkt *p)
{
	p->eth_type = bytes_get16(p->data + ETH_TYPE_AT);
	switch (p->eth_type) {
	case PROTO_ETH_IPV4:
		return parse_ipv4(p);
	case PROTO_ETH_IPV6:
		return parse_ipv6(p);
	case PROTO_ETH_ARP:
		p->flags |= PKT_F_ARP;
		return DROP_NONE;
	case PROTO_ETH_VLAN:
	case PROTO_ETH_QINQ:
		return DROP_PARSE_VLAN;
	default:
		return DROP_PARSE_ETH_TYPE;
	}
}

enum drop_reason parse_frame(struct pkt *p)
{
	enum drop_reason reason = DROP_NONE;

	p->flags &= PKT_F_VLAN | PKT_F_OVERSIZE;
	p->eth_type = 0;
	p->l3_off = PROTO_ETH_SIZE;
	p->l4_off = 0;
	p->proto = 0;
	p->ttl = 0;
	memset(&p->key, 0, sizeof(p->key));
	p->key.in_port = p->in_port;
	if (UNLIKELY(p->flags & PKT_F_OVERSIZE))
		return DROP_RX_TRUNCATED;
	if (UNLIKELY(p->len < PROTO_ETH_SIZE))
		return DROP_PARSE_SHORT;
	if (UNLIKELY(p->flags & PKT_F_VLAN))
		reason = take_metadata_tag(p);
	else if (UNLIKELY(bytes_get16(p->data + ETH_TYPE_AT) == PROTO_ETH_VLAN))
		reason = take_inline_tag(p);
	return reason != DROP_NONE ? reason : parse_network(p);
}
