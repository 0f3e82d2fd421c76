// SPDX-License-Identifier: Apache-2.0
#include "io/rx_buffers.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/compiler.h"

// Frame data begins here in its buffer: PKT_HEADROOM before it, and the IP header 16-byte aligned.
#define DATA_OFFSET (PKT_HEADROOM + 2)
// Buffers are spread over cache sets: with a multiple of 4096 all first lines would share one set.
#define BUFFER_STRIDE ((PKT_LEN_MAX / 4096 + 1) * 4096 + 3 * CACHE_LINE)
#define HUGE_PAGE (2ul << 20)
#define MEM_BYTES \
	(((size_t)PKT_BURST * BUFFER_STRIDE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE)

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
		express_reset(e, i);
	}
	// A hint only: without huge pages each buffer costs a TLB entry.
	(void)madvise((void *)base, MEM_BYTES - HUGE_PAGE, MADV_HUGEPAGE);
}

struct express_rx *rx_buffers_new_express(int fd)
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

void rx_buffers_free_express(struct express_rx *e)
{
	if (!e)
		return;
	munmap(e->mem, MEM_BYTES);
	free(e);
}

struct hold_rx *rx_buffers_new_hold(void)
{
	return calloc(1, sizeof(struct hold_rx));
}

void rx_buffers_free_hold(struct hold_rx *h)
{
	free(h);
}
