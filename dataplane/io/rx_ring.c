// SPDX-License-Identifier: Apache-2.0
#include "io/rx_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/psock.h"
#include "io/rx_priv.h"
#include "netlink/netns.h"

// 128 KB: a 64 KB frame fits with its headers, and a block is left half empty at worst.
#define BLOCK_BYTES (128u << 10)
// Of all workers together.
#define RING_BYTES (16u << 20)
// What may wait in the ring as the programs count it. The rest is for blocks that the timer hands
// over before they are full.
#define CAPACITY_PERCENT 75
#define RETIRE_MS 1
// Puts the IP header on a 16-byte boundary: 68 bytes of headers, 16 of alignment, 10 of vnet_hdr.
#define RESERVE_BYTES 6
#define RETRY_NS (10 * NS_PER_SEC)

struct make_call {
	struct rx *rx;
	int fd; // result
};

static void notify(struct rx_group *g)
{
	uint64_t one = 1;
	(void)!write(g->event_fd, &one, sizeof(one));
}

bool rx_ring_want(struct rx *rx)
{
	struct rx_ring *r = &rx->ring;
	int state = atomic_load_explicit(&r->state, memory_order_acquire);
	int released = RX_RING_RELEASED;
	if (state == RX_RING_READY)
		return true;
	if (state == RX_RING_RELEASED) {
		r->idle_ns = rx->now_ns;
		return atomic_compare_exchange_strong(&r->state, &released, RX_RING_READY);
	}
	if (state == RX_RING_NONE ||
	    (state == RX_RING_FAILED && rx->now_ns - r->asked_ns > RETRY_NS)) {
		r->asked_ns = r->idle_ns = rx->now_ns;
		atomic_store_explicit(&r->state, RX_RING_WANTED, memory_order_release);
		notify(rx->group);
	}
	return false;
}

void rx_ring_let_go(struct rx *rx)
{
	atomic_store_explicit(&rx->ring.state, RX_RING_RELEASED, memory_order_release);
	notify(rx->group);
}

static int make_socket(struct rx *rx, int fd, struct err *err)
{
	struct rx_group *g = rx->group;
	struct psock_ring_conf conf = {
		.block_bytes = BLOCK_BYTES,
		.block_count = RING_BYTES / g->workers / BLOCK_BYTES,
		.retire_ms = RETIRE_MS,
		.reserve = RESERVE_BYTES,
	};
	void *mem;
	int r = psock_refuse_all(fd, err);
	if (r == 0)
		r = psock_make_ring(fd, &conf, &mem, err);
	if (r < 0)
		return r;
	ring_init(&rx->ring.ring, mem, conf.block_bytes, conf.block_count);
	r = psock_bind_all(fd, err);
	if (r == 0)
		r = psock_join(fd, &g->fanout, err);
	if (r < 0)
		return r;
	rx->ring.member = g->members++;
	atomic_store(&rx->lanes[RX_LANE_BULK]->capacity,
		     (uint64_t)RING_BYTES / g->workers * CAPACITY_PERCENT / 100);
	// Until now every frame was refused, and none was sent here.
	return psock_attach(fd, g->prog.admit_fd[rx->worker * 2 + RX_LANE_BULK], err);
}

static int make_call(void *arg)
{
	struct make_call *call = arg;
	call->fd = psock_open(NULL);
	return call->fd < 0 ? call->fd : make_socket(call->rx, call->fd, NULL);
}

static void unmap(struct ring_rx *r)
{
	if (r->mem)
		munmap(r->mem, (size_t)r->block_bytes * r->block_count);
	r->mem = NULL;
}

// A failure leaves the port's frames in the express lane: slower, nothing lost.
static void make(struct rx *rx)
{
	struct make_call call = {.rx = rx, .fd = -1};
	uint32_t members = rx->group->members;
	int r = netns_run(rx->group->netns_fd, make_call, &call);
	rx->ring.fd = call.fd;
	if (r < 0) {
		unmap(&rx->ring.ring);
		if (call.fd >= 0)
			close(call.fd);
		rx->ring.fd = -1;
		rx->group->members = members;
	}
	atomic_store_explicit(&rx->ring.state, r < 0 ? RX_RING_FAILED : RX_RING_READY,
			      memory_order_release);
}

void rx_ring_close(struct rx *rx)
{
	unmap(&rx->ring.ring);
	if (rx->ring.fd >= 0)
		close(rx->ring.fd);
	rx->ring.fd = -1;
}

// True: the ring was the last member and is gone now.
static bool take_down(struct rx *rx)
{
	struct rx_group *g = rx->group;
	int released = RX_RING_RELEASED;
	if (atomic_load_explicit(&rx->ring.state, memory_order_acquire) != RX_RING_RELEASED ||
	    rx->ring.member != g->members - 1)
		return false;
	if (!atomic_compare_exchange_strong(&rx->ring.state, &released, RX_RING_CLOSING))
		return false;
	rx_ring_close(rx);
	g->members--;
	atomic_store_explicit(&rx->ring.state, RX_RING_NONE, memory_order_release);
	return true;
}

void rx_ring_service(struct rx_group *g)
{
	for (unsigned w = 0; w < g->workers; w++)
		if (atomic_load_explicit(&g->rx[w].ring.state, memory_order_acquire) ==
		    RX_RING_WANTED)
			make(&g->rx[w]);
	// One that leaves may make another one the last.
	for (unsigned w = 0; w < g->workers; w++)
		if (take_down(&g->rx[w]))
			w = -1u;
}
