// SPDX-License-Identifier: Apache-2.0
// Deletes links without making the control thread wait.
//
// The kernel takes a link out of sight within a millisecond, but the request returns only some 20
// ms later, when all that may still use it has let go. A few threads, each with a socket of its
// own, sit these waits out side by side. They touch nothing but their sockets and the queue.
//
// One control thread calls; the threads start with the first link.
#pragma once

#include <stdint.h>

#include "base/err.h"

#define REAPER_THREADS 8

struct reaper;

// netns_fd: namespace of the links, borrowed. 0 or -errno.
int reaper_open(int netns_fd, struct reaper **ret_reaper, struct err *err);
// Waits until everything in the queue is deleted. NULL is nothing.
void reaper_close(struct reaper *r);
// Deletes a link soon. 0, or -errno: nobody will do it.
int reaper_add(struct reaper *r, uint32_t ifindex);
