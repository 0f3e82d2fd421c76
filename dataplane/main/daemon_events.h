// SPDX-License-Identifier: Apache-2.0
// The daemon's event loop: signals, links of the private namespace, the spool, receive groups,
// timers.
//
// Nothing ticks while nothing happens: every timer here is armed by something that needs it.
#pragma once

#include "main/daemon.h"

// After daemon_open_state. 0 or -errno.
int daemon_events_open(struct daemon *d, struct err *err);
// Also after half an open.
void daemon_events_close(struct daemon *d);
