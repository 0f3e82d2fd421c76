// SPDX-License-Identifier: Apache-2.0
// The bulk lane: frames in place from the blocks of a TPACKET_V3 ring.
//
// Blocks have positions that only grow: ring_position is the next one to read, ring_open_position
// the one that the kernel fills. A block is the kernel's again only after ring_release. Worker
// thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/express_rx.h"

struct ring_rx {
	uint8_t *mem;
	uint32_t block_bytes, block_count;
	uint64_t position; // of the block at hand
	uint32_t offset;   // bytes into it, of the next frame; 0 = not begun
	uint32_t frames;   // not yet read in it
	bool done;         // read to its end, waits for ring_release
};

// Takes over mem, a mapping of block_bytes * block_count bytes, in *r.
void ring_init(struct ring_rx *r, void *mem, uint32_t block_bytes, uint32_t block_count);
// The block at hand holds frames.
bool ring_is_ready(const struct ring_rx *r);
// Reads up to max frames of the block at hand; 0 where it is still the kernel's.
unsigned ring_read(struct ring_rx *r, struct rx_frame *frames, unsigned max);
// Gives the block at hand back once it was read to its end.
void ring_release(struct ring_rx *r);
static inline uint64_t ring_position(const struct ring_rx *r)
{
	return r->position;
}
uint64_t ring_open_position(const struct ring_rx *r);
// Everything handed over was read, and the kernel has put nothing into the next block yet.
bool ring_is_drained(const struct ring_rx *r);
