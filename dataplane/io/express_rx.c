// SPDX-License-Identifier: Apache-2.0
#include "io/express_rx.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/compiler.h"

// Bytes of frames per call that stay in a second-level cache until they are sent.
#define READ_BYTES (256u << 10)
#define READ_MIN 4u

// recvmmsg's contract on a kernel without it.
static int read_single(struct express_rx *e, unsigned want)
{
	for (unsigned i = 0; i < want; i++) {
		ssize_t r = recvmsg(e->fd, &e->msgs[i].msg_hdr, MSG_DONTWAIT | MSG_TRUNC);
		if (r < 0)
			return i > 0 ? (int)i : -1;
		e->msgs[i].msg_len = (unsigned)r;
	}
	return (int)want;
}

static int read_batch(struct express_rx *e, unsigned want)
{
	if (e->single)
		return read_single(e, want);
	int n = recvmmsg(e->fd, e->msgs, want, MSG_DONTWAIT | MSG_TRUNC, NULL);
	if (n < 0 && errno == ENOSYS) {
		e->single = true;
		return read_single(e, want);
	}
	return n;
}

static void read_vlan(const struct express_rx *e, unsigned i, struct rx_frame *f)
{
	const struct cmsghdr *cm = &e->control[i].head;
	struct tpacket_auxdata aux;
	f->has_vlan = false;
	if (e->msgs[i].msg_hdr.msg_controllen < CMSG_LEN(sizeof(aux)) ||
	    cm->cmsg_level != SOL_PACKET || cm->cmsg_type != PACKET_AUXDATA)
		return;
	memcpy(&aux, CMSG_DATA(cm), sizeof(aux));
	f->has_vlan = (aux.tp_status & TP_STATUS_VLAN_VALID) != 0;
	f->vlan_tci = aux.tp_vlan_tci;
	f->vlan_tpid = aux.tp_vlan_tpid;
}

static void fill_frame(const struct express_rx *e, unsigned i, struct rx_frame *f)
{
	uint32_t got = e->msgs[i].msg_len; // with MSG_TRUNC the whole length, even if cut
	f->data = (uint8_t *)e->iov[i].iov_base + VNET_HDR_LEN;
	f->wire_len = got > VNET_HDR_LEN ? got - VNET_HDR_LEN : 0;
	f->len = f->wire_len < PKT_LEN_MAX ? f->wire_len : PKT_LEN_MAX;
	f->ifindex = (uint32_t)e->addr[i].sll_ifindex;
	f->outgoing = e->addr[i].sll_pkttype == PACKET_OUTGOING;
	read_vlan(e, i, f);
}

// The next call asks for what fits the cache if frames stay as large as these.
static void adapt(struct express_rx *e, unsigned n, uint64_t bytes)
{
	uint64_t fit = bytes > 0 ? (uint64_t)READ_BYTES * n / bytes : PKT_BURST;
	e->want = fit > PKT_BURST ? PKT_BURST : fit < READ_MIN ? READ_MIN : (unsigned)fit;
}

unsigned express_read(struct express_rx *e, struct rx_frame *frames, unsigned max,
		      unsigned *ret_lost)
{
	unsigned want = max < e->want ? max : e->want;
	uint64_t bytes = 0;
	int n = read_batch(e, want);
	e->empty = false;
	if (n <= 0) {
		// Any other error is the kernel's answer for one frame, which is gone, or EINTR.
		e->empty = n == 0 || errno == EAGAIN;
		*ret_lost += n < 0 && errno == EINVAL;
		e->want = PKT_BURST;
		return 0;
	}
	for (unsigned i = 0; i < (unsigned)n; i++) {
		fill_frame(e, i, &frames[i]);
		bytes += frames[i].wire_len;
		express_reset(e, i);
	}
	e->empty = (unsigned)n < want;
	adapt(e, (unsigned)n, bytes);
	return (unsigned)n;
}

bool express_is_empty(const struct express_rx *e)
{
	return e->empty;
}
