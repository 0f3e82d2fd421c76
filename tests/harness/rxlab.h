// SPDX-License-Identifier: Apache-2.0
// Two veths and a receive group for the tests of io/rx*: everything in one thread, so that what is
// in a lane is known; time is given by the test.
#pragma once

#include "harness/netlab.h"
#include "io/rx_priv.h"

#define RXLAB_A 5 // port ids
#define RXLAB_B 9
#define RXLAB_DEADLINE_MS 20000

struct rxlab {
	struct netlab net;
	struct netlab_veth a, b;
	struct rx_group *g;
	struct counters *c;
	uint64_t skip_ns; // added to the clock that rx_burst gets
	void (*look)(struct rxlab *lab, const struct pkt *p); // each frame handed out; may be NULL
	uint64_t got_a, got_b;
};

// Namespaces and veths; 0 or -errno.
int rxlab_start(struct rxlab *lab);
void rxlab_stop(struct rxlab *lab);
// Opens the group with zeroed counters; A belongs to worker 0, B to the last worker. Fails the
// test.
void rxlab_open(struct rxlab *lab, enum rx_mode mode, unsigned workers);
void rxlab_close(struct rxlab *lab);
// One turn of a worker: burst, look, release, and service where it was asked for. Frames.
unsigned rxlab_turn(struct rxlab *lab, unsigned worker);
// Turns of all workers until n turns in a row found nothing, n * 1 ms apart, or the deadline.
void rxlab_drain(struct rxlab *lab);
// Sends numbered frames from a pod end; the next number.
uint32_t rxlab_send(const struct netlab_veth *v, uint32_t number, unsigned count, uint32_t len);
// Floods from v until its port is in the bulk lane; the next number.
uint32_t rxlab_move_up(struct rxlab *lab, const struct netlab_veth *v, unsigned worker,
		       uint32_t number);
// Lets time pass until v's port is in the express lane again.
void rxlab_move_down(struct rxlab *lab, const struct netlab_veth *v, unsigned worker);
uint64_t rxlab_drops(const struct rxlab *lab, uint16_t port, enum drop_reason reason);
// All drops of the receive side on one port.
uint64_t rxlab_rx_drops(const struct rxlab *lab, uint16_t port);
