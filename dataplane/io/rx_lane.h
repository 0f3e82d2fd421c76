// SPDX-License-Identifier: Apache-2.0
// Which lane a port's frames take, and how they stay in order when it changes. Worker thread.
//
//	state    frames come by      ends when
//	EXPRESS  express             reads were full of this port's small frames, and the ring is
// there: 	                             RISING 	RISING   ring, and express   no sender can
// still be on its way to express: BULK. Until then the ring 	         holds older ones    is read
// on only when express was emptied after its block was seen 	BULK     ring                the
// rate fell: FALLING 	FALLING  express, and ring   the ring was read past all older frames:
// EXPRESS. Until then express 	         holds older ones    frames of this port are held; other
// ports' are not
#pragma once

#include "io/rx_priv.h"

// Looks at the frames that were just read from express (before account_publish) and moves ports up.
// full: frames of a read that got all it asked for, 0 = it found fewer.
void lane_after_express(struct rx *rx, unsigned full);
// A frame of a falling port came by express: true where it must wait. *ret_lost: no room, drop it.
bool lane_must_hold(struct rx *rx, struct rx_entry *e, const struct rx_frame *f, bool *ret_lost);
// Before a burst: finds falling ports whose older frames are through.
void lane_settle(struct rx *rx);
// Held frames that may go now, oldest first.
unsigned lane_take_held(struct rx *rx, struct rx_frame *frames, unsigned max);
// Before express is read: notes what the ring has; after it: whether the ring may be read on.
void lane_look_at_ring(struct rx *rx);
bool lane_may_read_ring(struct rx *rx);
// The interface index has a new port: what is known of the lane belongs to the old one.
void lane_forget(struct rx *rx, struct rx_entry *e);
// Every few ms: rates, ports that fall, a ring that is not needed any more.
void lane_tick(struct rx *rx);
// Longest sleep in ms that lanes allow, -1 = any.
int lane_sleep_ms(const struct rx *rx);
