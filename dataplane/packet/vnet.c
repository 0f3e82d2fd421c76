// SPDX-License-Identifier: Apache-2.0
#include "packet/vnet.h"

#include "packet/bytes.h"
#include "packet/crc32c.h"
#include "packet/parse.h"
#include "packet/proto.h"

enum { CSUM_AT_UDP = 6, CSUM_AT_SCTP = 8, CSUM_AT_TCP = 16 };

// Where the checksum of p's protocol stands; 0: none that is offloaded.
static uint16_t csum_at(const struct pkt *p)
{
	switch (p->proto) {
	case IPPROTO_TCP:
		return CSUM_AT_TCP;
	case IPPROTO_UDP:
		return CSUM_AT_UDP;
	case IPPROTO_SCTP:
		return CSUM_AT_SCTP;
	default:
		return 0;
	}
}

// The sum that will be finished must be the packet's own: another place would rewrite ports or
// addresses after the verdict on them.
static bool is_own_csum(const struct pkt *p)
{
	const struct vnet_hdr *v = &p->vnet;
	const uint16_t at = csum_at(p);

	if ((p->flags & (PKT_F_L4 | PKT_F_FRAG)) != PKT_F_L4 || v->csum_start != p->l4_off)
		return false;
	if (at == 0 || v->csum_offset != at)
		return false;
	// A partial sum runs to the end of the packet, so UDP must as well.
	return p->proto != IPPROTO_UDP ||
	       bytes_get16(p->data + p->l4_off + 4) == p->len - p->l4_off;
}

static enum drop_reason check_csum(struct pkt *p)
{
	struct vnet_hdr *v = &p->vnet;

	v->flags &= VNET_F_NEEDS_CSUM;
	if (v->flags == 0) {
		v->csum_start = 0;
		v->csum_offset = 0;
		return DROP_NONE;
	}
	if (!is_own_csum(p))
		return DROP_VNET_BAD_CSUM;
	if (UNLIKELY(p->proto == IPPROTO_SCTP)) {
		if (v->gso_type != VNET_GSO_NONE)
			return DROP_VNET_BAD_GSO;
		// SCTP's CRC cannot be described to whoever gets the frame, so it is finished here.
		crc32c_sctp(p->data + p->l4_off, p->len - p->l4_off);
		*v = (struct vnet_hdr){0};
	}
	return DROP_NONE;
}

static bool is_gso_type_fit(const struct pkt *p)
{
	// The ECN bit belongs to TCP's congestion flags; alone it is no type.
	switch (p->vnet.gso_type) {
	case VNET_GSO_TCPV4:
	case VNET_GSO_TCPV4 | VNET_GSO_ECN:
		return (p->flags & PKT_F_IPV4) && p->proto == IPPROTO_TCP;
	case VNET_GSO_TCPV6:
	case VNET_GSO_TCPV6 | VNET_GSO_ECN:
		return (p->flags & PKT_F_IPV6) && p->proto == IPPROTO_TCP;
	case VNET_GSO_UDP_L4:
		return p->proto == IPPROTO_UDP;
	default:
		return false;
	}
}

// End of the headers that each segment repeats, bytes from data.
static uint32_t headers_end(const struct pkt *p)
{
	if (p->proto == IPPROTO_TCP)
		return p->l4_off + (p->data[p->l4_off + 12] >> 4) * 4u;
	return p->l4_off + PROTO_UDP_SIZE;
}

static enum drop_reason check_gso(struct pkt *p, uint32_t mtu)
{
	struct vnet_hdr *v = &p->vnet;
	uint32_t end, payload;

	// NEEDS_CSUM also says that this is a whole packet with an L4 header.
	if (!(v->flags & VNET_F_NEEDS_CSUM) || !is_gso_type_fit(p))
		return DROP_VNET_BAD_GSO;
	end = headers_end(p);
	payload = p->len - end;
	if (payload == 0)
		return DROP_VNET_BAD_GSO;
	if ((p->proto == IPPROTO_TCP && v->gso_size < VNET_GSO_SIZE_MIN) ||
	    payload > (uint32_t)v->gso_size * VNET_GSO_SEGS_MAX)
		return DROP_VNET_GSO_SMALL;
	if (end - PROTO_ETH_SIZE + v->gso_size > mtu)
		return DROP_TOO_BIG;
	v->hdr_len = (uint16_t)end;
	return DROP_NONE;
}

enum drop_reason vnet_check(struct pkt *p, uint32_t mtu)
{
	const enum drop_reason reason = check_csum(p);

	if (UNLIKELY(reason != DROP_NONE))
		return reason;
	if (p->vnet.gso_type != VNET_GSO_NONE)
		return check_gso(p, mtu);
	p->vnet.gso_size = 0;
	p->vnet.hdr_len = 0;
	return LIKELY(p->len <= mtu + PROTO_ETH_SIZE) ? DROP_NONE : DROP_TOO_BIG;
}
