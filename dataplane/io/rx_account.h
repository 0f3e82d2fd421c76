// SPDX-License-Identifier: Apache-2.0
// What a burst took, per port and lane: sums are kept in the worker and published once per burst.
#pragma once

#include "io/rx_priv.h"

// A frame of ifindex was taken from a lane. The entry may be NULL (no port): only the lane's sum
// grows.
void account_take(struct rx *rx, enum rx_lane lane, struct rx_entry *entry, uint32_t wire_len);
// The frame is handed out: it counts as received.
void account_hand_out(struct rx *rx, struct rx_entry *entry, uint32_t len);
// End of a burst: receive counters, and room in the lanes for the kernel.
void account_publish(struct rx *rx);
// Adds what the kernel dropped since the last call to the counters. A few times per second.
void account_drops(struct rx *rx);
// Frames that were admitted and then lost (no room, no memory) would count as waiting for ever:
// what was admitted before a moment and cannot be in a lane any more is written off. Called with
// account_drops.
void account_settle(struct rx *rx);
// Nothing is waiting, as far as the counts know.
bool account_is_settled(const struct rx *rx);
