// SPDX-License-Identifier: Apache-2.0
#include "io/express_rx.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/compiler.h"

// Frame data begins here in its buffer: PKT_HEADROOM before it, and the IP header 16-byte aligned.
#define DATA_OFFSET (PKT_HEADROOM + 2)
// Buffers are spread over cache sets: with a multiple of 4096 all first lines would share one set.
#define BUFFER_STRIDE ((PKT_LEN_MAX / 4096 + 1) * 4096 + 3 * CACHE_LINE)
#define HUGE_PAGE (2ul << 20)
#define MEM_BYTES \
	(((size_t)PKT_BURST * BUFFER_STRIDE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE)

// Bytes of frames per call that stay in a second-level cache until they are sent.
#define READ_BYTES (256u << 10)
#define READ_MIN 4u

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

static void reset(struct express_rx *e, unsigned i)
{
	struct msghdr *h = &e->msgs[i].msg_hdr;
	h->msg_namelen = sizeof(e->addr[i]);
	h->msg_controllen = sizeof(e->control[i]);
	h->msg_flags = 0;
}

static void lay_out(struct express_rx *e)
{
	uintptr_t base = ((uintptr_t)e->mem + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	for (unsigned i = 0; i < PKT_BURST; i++) {
		uint8_t *data = (uint8_t *)base + (size_t)i * BUFFER_STRIDE + DATA_OFFSET;
		e->iov[i].iov_base = data - VNET_HDR_LEN;
		e->iov[i].iov_len = VNET_HDR_LEN + PKT_LEN_MAX;
		struct msghdr *h = &e->msgs[i].msg_hdr;
		h->msg_iov = &e->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = &e->addr[i];
		h->msg_control = &e->control[i];
		reset(e, i);
	}
	// A hint only: without huge pages each buffer costs a TLB entry.
	(void)madvise((void *)base, MEM_BYTES - HUGE_PAGE, MADV_HUGEPAGE);
}

struct express_rx *express_new(int fd)
{
	struct express_rx *e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->mem = mmap(NULL, MEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (e->mem == MAP_FAILED) {
		free(e);
		return NULL;
	}
	e->fd = fd;
	e->want = PKT_BURST;
	lay_out(e);
	return e;
}

void express_free(struct express_rx *e)
{
	if (!e)
		return;
	munmap(e->mem, MEM_BYTES);
	free(e);
}

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
		reset(e, i);
	}
	e->empty = (unsigned)n < want;
	adapt(e, (unsigned)n, bytes);
	return (unsigned)n;
}

bool express_is_empty(const struct express_rx *e)
{
	return e->empty;
}
