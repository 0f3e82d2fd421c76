// SPDX-License-Identifier: Apache-2.0
// Memory that the receive programs (eBPF) and weftd share, and the programs themselves.
//
// One BPF array with one element, mapped writable into the process. The fanout program reads which
// member of the group gets a port's frames; the admission program of each member counts what waits
// per port and refuses what is beyond the port's share. Both sides write disjoint cache lines.
//
// Share of a port: a frame is let in while what the port has waiting is not more than what is still
// free in the lane. One flooding port thus takes half of a lane, n of them n/(n+1), and there is
// always room for the others (dynamic thresholds, Choudhury and Hahne 1998).
//
// Threads: control thread opens and closes; `out` is written by the worker that reads the lane; the
// kernel writes `in`, `dropped` and `unknown` from any processor with atomic adds.
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/port.h"
#include "io/rx.h"

#define RX_SLOTS_MAX (2 * PORT_WORKERS_MAX) // slot = worker * 2 + lane
// Bytes that a waiting frame costs besides its length: an skb, a header in a block.
#define RX_COST_EXPRESS 512
#define RX_COST_BULK 128

// One lane of one worker. Byte counts include RX_COST_* per frame.
struct rx_map_lane {
	_Atomic uint64_t in;      // let in; kernel
	_Atomic uint64_t unknown; // frames of interfaces that are no open port; kernel
	uint64_t pad_in[6];
	_Atomic uint64_t out;      // taken; worker
	_Atomic uint64_t capacity; // most that may wait
	uint64_t pad_out[6];
};

// One interface.
struct rx_map_port {
	_Atomic uint64_t in;      // let in; kernel
	_Atomic uint64_t dropped; // frames beyond the share; kernel
	uint64_t pad_in[6];
	_Atomic uint64_t out;    // taken; worker
	_Atomic uint32_t member; // index in the fanout group
	_Atomic uint32_t open;   // 0: no port, frames are refused
	uint64_t pad_out[6];
};

struct rx_map {
	struct rx_map_lane lanes[RX_SLOTS_MAX];
	struct rx_map_port ports[RX_IFINDEX_MAX];
};
_Static_assert(sizeof(struct rx_map_lane) == 128 && sizeof(struct rx_map_port) == 128,
	       "the programs index by shifting");

struct rx_map_prog {
	struct rx_map *map; // NULL: not open
	int map_fd;
	int fanout_fd;              // program that picks the member
	int admit_fd[RX_SLOTS_MAX]; // program of each member, -1 = not loaded
};

// Makes the array and loads the programs for `slots` slots. 0 or -errno, nothing left behind.
int rx_map_open(struct rx_map_prog *p, unsigned slots, struct err *err);
// Accepts what rx_map_open left after a failure, and a zeroed struct with map NULL.
void rx_map_close(struct rx_map_prog *p);
