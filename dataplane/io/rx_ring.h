// SPDX-License-Identifier: Apache-2.0
// Life of a worker's bulk lane: made when a worker asks, taken down when the worker lets it go.
//
//	state     who moves on     to
//	NONE      worker asks      WANTED
//	WANTED    control          READY, or FAILED
//	READY     worker lets go   RELEASED      (only the worker touches the ring in READY)
//	RELEASED  worker again     READY
//	          control          CLOSING, NONE
//	FAILED    worker, later    WANTED
//
// A member that leaves a fanout group is replaced by the last one (net/packet/af_packet.c,
// __fanout_unlink), which would move another worker's frames for a moment. So rings leave in the
// reverse order of joining; one that is not the last waits. Express members never leave, and a
// frame is sent to a ring's member only while it is READY: no index ever names a wrong member.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "io/ring_rx.h"

enum rx_ring_state {
	RX_RING_NONE,
	RX_RING_WANTED,
	RX_RING_READY,
	RX_RING_RELEASED,
	RX_RING_CLOSING,
	RX_RING_FAILED,
};

struct rx_ring {
	_Atomic int state;
	int fd;
	uint32_t member;            // index in the fanout group
	uint64_t asked_ns, idle_ns; // worker: when it asked; since when no port is in this lane
	struct ring_rx ring;
};

struct rx;
struct rx_group;

// Worker: true where the ring can be used now; else asks for it.
bool rx_ring_want(struct rx *rx);
// Worker: the ring may be looked at.
static inline bool rx_ring_is_ready(const struct rx_ring *r)
{
	return atomic_load_explicit(&r->state, memory_order_acquire) == RX_RING_READY;
}
// Worker: lets a ring go that had no port for a while.
void rx_ring_let_go(struct rx *rx);
// Control: makes and takes down what was asked for.
void rx_ring_service(struct rx_group *g);
// Control, at the end: closes without regard to the order.
void rx_ring_close(struct rx *rx);
