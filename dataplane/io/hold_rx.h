// SPDX-License-Identifier: Apache-2.0
// Frames that wait until older ones of their port came out of the bulk lane: copies in memory that
// is allocated once. Worker thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/express_rx.h"

#define HOLD_FRAMES 512
#define HOLD_BYTES (1u << 20)

struct hold_rx;

// NULL when memory is short.
struct hold_rx *hold_new(void);
void hold_free(struct hold_rx *h);
// Copies the frame. False: no room.
bool hold_put(struct hold_rx *h, const struct rx_frame *f);
// Frames that were put and not taken.
unsigned hold_count(const struct hold_rx *h);
// Takes up to max frames, oldest first, of interfaces for which is_ready says so. They stay valid
// until the next hold_put.
unsigned hold_take(struct hold_rx *h, bool (*is_ready)(void *arg, uint32_t ifindex), void *arg,
		   struct rx_frame *frames, unsigned max);
