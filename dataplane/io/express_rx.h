// SPDX-License-Identifier: Apache-2.0
// The express lane: batches from a packet socket by recvmmsg into buffers that are used again at
// once.
//
// While frames are large fewer are read per call and only the first buffers rotate, so that a frame
// is still in the processor's cache when it is sent. One thread per struct.
#pragma once

#include <stdbool.h>
#include <linux/if_packet.h>
#include <stdint.h>
#include <sys/socket.h>

#include "packet/pkt.h"

// One received frame, before its port is looked up. vnet_hdr stands directly before data.
struct rx_frame {
	uint8_t *data;
	uint32_t len;      // bytes at data
	uint32_t wire_len; // bytes that the frame had; more than len: it was cut
	uint32_t ifindex;
	uint16_t vlan_tci, vlan_tpid; // host order, with has_vlan
	bool has_vlan;
	bool outgoing;       // sent by this end of the link, not received
	uint32_t generation; // of a held frame's port (rx_priv.h)
};

// Filled in by rx_buffers.h.
struct express_rx {
	int fd;
	bool single; // the kernel has no recvmmsg
	bool empty;
	unsigned want; // frames to ask for next
	void *mem;
	struct mmsghdr msgs[PKT_BURST];
	struct iovec iov[PKT_BURST];
	struct sockaddr_ll addr[PKT_BURST];
	union {
		struct cmsghdr head;
		uint8_t bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control[PKT_BURST];
};

// Message i is ready to be read into.
static inline void express_reset(struct express_rx *e, unsigned i)
{
	struct msghdr *h = &e->msgs[i].msg_hdr;
	h->msg_namelen = sizeof(e->addr[i]);
	h->msg_controllen = sizeof(e->control[i]);
	h->msg_flags = 0;
}

// Reads up to max (<= PKT_BURST) frames without waiting; they stay until the next call. A frame
// that the kernel took off the queue but could not deliver is added to *ret_lost.
unsigned express_read(struct express_rx *e, struct rx_frame *frames, unsigned max,
		      unsigned *ret_lost);
// As an express_read that finds nothing, where the caller knows that nothing waits.
static inline void express_skip(struct express_rx *e)
{
	e->empty = true;
	e->want = PKT_BURST;
}
// The last express_read found fewer frames than it asked for.
bool express_is_empty(const struct express_rx *e);
