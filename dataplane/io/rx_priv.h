// SPDX-License-Identifier: Apache-2.0
// What the files of the receive engine share; nobody else includes it.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/port.h"
#include "io/express_rx.h"
#include "io/hold_rx.h"
#include "io/rx.h"
#include "io/rx_map.h"
#include "io/rx_ring.h"

// Who gets an interface's frames: port id (16 bits, 0 = nobody), worker (16 bits), generation (32
// bits) of the interface index. Written by the control thread in one store.
typedef uint64_t rx_owner;

// Puts the three together.
static inline rx_owner rx_owner_make(uint16_t port, unsigned worker, uint32_t generation)
{
	return port | (rx_owner)worker << 16 | (rx_owner)generation << 32;
}

// Port id, 0 = nobody.
static inline uint16_t rx_owner_port(rx_owner o)
{
	return (uint16_t)o;
}

// Worker that reads the frames.
static inline unsigned rx_owner_worker(rx_owner o)
{
	return (o >> 16) & 0xffff;
}

// Grows with each port that gets the index.
static inline uint32_t rx_owner_generation(rx_owner o)
{
	return (uint32_t)(o >> 32);
}

// See rx_lane.h.
enum rx_state { RX_STATE_EXPRESS, RX_STATE_RISING, RX_STATE_BULK, RX_STATE_FALLING };

// One interface index.
struct rx_entry {
	_Atomic rx_owner owner;
	// What the worker's lanes had admitted when the port was added: a frame before that point
	// belongs to a port that had the index earlier. Control thread.
	_Atomic uint64_t stale_until[2];
	_Atomic uint64_t dropped_base; // `dropped` count when the port was added; control thread
	// The rest belongs to the worker that owns the port.
	uint32_t generation;    // of the port that the fields below describe
	bool touched;           // is in rx->touched
	bool stale;             // frames of an earlier port may still come
	uint64_t started_ns;    // when the worker first saw a frame of the port
	uint32_t burst_packets; // taken in this burst
	uint32_t burst_bytes;
	uint32_t burst_cost;   // bytes and RX_COST_* of frames taken, handed out or not
	uint64_t dropped_seen; // of rx_map_port.dropped, already in the counters
	uint64_t snap_in;      // of rx_map_port.in, see account_settle
	enum rx_state lane;
	uint32_t held;           // FALLING: frames that wait
	uint64_t moved_ns;       // when the state began
	uint64_t fall_position;  // FALLING: last block that may hold older frames
	uint64_t window_packets; // handed out since the last lane_tick
	uint32_t low_windows;    // in a row with a low rate
	uint32_t streak;         // of full reads that the two sums below belong to
	uint32_t streak_packets;
	uint64_t streak_bytes;
} CACHE_ALIGNED;

struct rx {
	struct rx_group *group;
	unsigned worker;
	int express_fd; // -1: this worker receives nothing (mmsg mode, not worker 0)
	int event_fd;
	struct express_rx *express;
	struct counters *counters;    // of the last rx_burst
	uint64_t now_ns;              // of the last rx_burst
	uint64_t housekeeping_ns;     // when drops were last read
	struct rx_map_lane *lanes[2]; // NULL in mmsg mode
	uint64_t lane_cost[2];        // taken in this burst
	uint64_t unknown_seen[2];     // of rx_map_lane.unknown, already in the counters
	uint64_t empty_ns[2];         // when the lane was last seen empty
	uint64_t snap_ns;             // when the admitted bytes below were read; 0 = not
	uint64_t snap_in[2];
	uint64_t express_read_ns; // when express was last read, 0 = read at once
	bool pressed;             // a lane held more than one read since drops were last looked at
	struct rx_ring ring;
	struct hold_rx *hold; // NULL in mmsg mode
	unsigned rising, falling, held_ready;
	unsigned moved_count;
	uint16_t moved[64]; // interface indexes of ports that are not EXPRESS
	uint64_t window_ns; // start of the rate window
	uint32_t streak, streak_reads, streak_frames; // of full express reads
	bool ring_has, mark_met;
	uint64_t mark_position, mark_in; // see lane_look_at_ring
	unsigned touched_count;
	uint16_t touched[2 * PKT_BURST]; // interface indexes with a burst count
} CACHE_ALIGNED;

struct rx_group {
	enum rx_mode mode;
	unsigned workers;
	int netns_fd; // own copy
	int event_fd;
	uint32_t members;                             // of the fanout group
	int64_t fanout;                               // what a new member passes
	struct rx_map_prog prog;                      // map NULL in mmsg mode
	char reason[ERR_TEXT_MAX];                    // why not lanes
	_Atomic uint64_t active[RX_IFINDEX_MAX / 64]; // bit set: the index has a port
	struct rx rx[PORT_WORKERS_MAX];
	struct rx_entry entries[RX_IFINDEX_MAX];
};
