// SPDX-License-Identifier: Apache-2.0
// Frames that wait until older ones of their port came out of the bulk lane: copies in memory that
// is allocated once. Worker thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/express_rx.h"

#define HOLD_FRAMES 512
#define HOLD_BYTES (1u << 20)

// Made by rx_buffers.h, zeroed.
struct hold_rx {
	unsigned first, end; // frames[first..end) may hold some; taken ones have data NULL
	unsigned count;
	size_t used; // bytes of mem
	struct rx_frame frames[HOLD_FRAMES];
	uint8_t mem[HOLD_BYTES];
};

// Copies the frame. False: no room.
bool hold_put(struct hold_rx *h, const struct rx_frame *f);
// Frames that were put and not taken.
unsigned hold_count(const struct hold_rx *h);
// Takes up to max frames, oldest first, of interfaces for which is_ready says so. They stay valid
// until the next hold_put.
unsigned hold_take(struct hold_rx *h, bool (*is_ready)(void *arg, uint32_t ifindex), void *arg,
		   struct rx_frame *frames, unsigned max);
