// SPDX-License-Identifier: Apache-2.0
#include "io/ring_rx.h"

#include <linux/if_packet.h>
#include <stdatomic.h>

#include "base/compiler.h"

// A frame's header and address in the block; then free bytes, vnet_hdr, frame (tpacket_rcv).
#define HEADER_BYTES (TPACKET_ALIGN(sizeof(struct tpacket3_hdr)) + sizeof(struct sockaddr_ll))

void ring_init(struct ring_rx *r, void *mem, uint32_t block_bytes, uint32_t block_count)
{
	*r = (struct ring_rx){.mem = mem, .block_bytes = block_bytes, .block_count = block_count};
}

static struct tpacket_hdr_v1 *block_at(const struct ring_rx *r, uint64_t position)
{
	uint8_t *block = r->mem + position % r->block_count * r->block_bytes;
	return &((struct tpacket_block_desc *)block)->hdr.bh1;
}

// Pairs with the kernel's write barrier before it hands a block over (prb_close_block).
static bool is_ours(const struct ring_rx *r, uint64_t position)
{
	return __atomic_load_n(&block_at(r, position)->block_status, __ATOMIC_ACQUIRE) &
	       TP_STATUS_USER;
}

bool ring_is_ready(const struct ring_rx *r)
{
	return !r->done && (r->offset > 0 || is_ours(r, r->position));
}

static bool begin_block(struct ring_rx *r)
{
	const struct tpacket_hdr_v1 *h = block_at(r, r->position);
	if (r->done || !is_ours(r, r->position))
		return false;
	r->frames = h->num_pkts;
	r->offset = h->offset_to_first_pkt;
	r->done = r->frames == 0;
	return !r->done;
}

// Reads the frame at r->offset. False where the header does not fit the block: a kernel bug, but
// one that must not become a wild pointer.
static bool read_frame(const struct ring_rx *r, struct rx_frame *f, uint32_t *ret_next)
{
	uint8_t *block =
		(uint8_t *)block_at(r, r->position) - offsetof(struct tpacket_block_desc, hdr.bh1);
	if (r->offset > r->block_bytes - HEADER_BYTES)
		return false;
	const struct tpacket3_hdr *h = (const struct tpacket3_hdr *)(block + r->offset);
	const struct sockaddr_ll *sll =
		(const struct sockaddr_ll *)((const uint8_t *)h + TPACKET_ALIGN(sizeof(*h)));
	uint32_t room = r->block_bytes - r->offset, mac = h->tp_mac, len = h->tp_snaplen;
	*ret_next = h->tp_next_offset;
	if (mac < HEADER_BYTES + PKT_HEADROOM || mac > room || len > room - mac)
		return false;
	f->data = block + r->offset + mac;
	f->wire_len = h->tp_len;
	f->len = len < PKT_LEN_MAX ? len : PKT_LEN_MAX;
	f->ifindex = (uint32_t)sll->sll_ifindex;
	f->outgoing = sll->sll_pkttype == PACKET_OUTGOING;
	f->has_vlan = (h->tp_status & TP_STATUS_VLAN_VALID) != 0;
	f->vlan_tci = (uint16_t)h->hv1.tp_vlan_tci;
	f->vlan_tpid = h->hv1.tp_vlan_tpid;
	return true;
}

unsigned ring_read(struct ring_rx *r, struct rx_frame *frames, unsigned max)
{
	unsigned n = 0;
	uint32_t next = 0;
	if (r->offset == 0 && !begin_block(r))
		return 0;
	while (n < max && r->frames > 0) {
		if (UNLIKELY(!read_frame(r, &frames[n], &next))) {
			r->frames = 0;
			break;
		}
		n++;
		r->frames--;
		if (next > r->block_bytes || next == 0)
			r->frames = 0; // the last frame of a block has no successor
		r->offset += next;
		__builtin_prefetch((uint8_t *)frames[n - 1].data + next);
	}
	r->done = r->frames == 0;
	return n;
}

void ring_release(struct ring_rx *r)
{
	if (!r->done)
		return;
	__atomic_store_n(&block_at(r, r->position)->block_status, TP_STATUS_KERNEL,
			 __ATOMIC_RELEASE);
	r->position++;
	r->offset = 0;
	r->done = false;
}

uint64_t ring_open_position(const struct ring_rx *r)
{
	uint64_t p = r->position;
	while (p - r->position < r->block_count && is_ours(r, p))
		p++;
	return p;
}

// The count of the block that is being filled is only compared with 0. It is set to 0 when the
// kernel opens the block and grows before a frame is copied, both before any later frame of the
// same sender can be seen in another socket; a block not opened yet holds an old count, which is
// not 0.
bool ring_is_drained(const struct ring_rx *r)
{
	if (r->done || r->offset > 0 || is_ours(r, r->position))
		return false;
	return __atomic_load_n(&block_at(r, r->position)->num_pkts, __ATOMIC_ACQUIRE) == 0 &&
	       !is_ours(r, r->position);
}
