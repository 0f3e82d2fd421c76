// SPDX-License-Identifier: Apache-2.0
// One connection of the control socket, as server.c sees it. Contract of the rest: server.h.
#pragma once

#include <sys/queue.h>

#include "main/server.h"

struct conn_owner {
	struct event_base *base;
	void (*line)(struct conn *c, const char *text, size_t len, void *arg);
	void (*gone)(struct conn *c, void *server); // the last call; conn_free follows
	void *arg;                                  // of line
	void *server;                               // of gone
};

// Takes fd. NULL when memory is short (fd is closed).
struct conn *conn_new(int fd, uint64_t id, const struct conn_owner *owner);
void conn_free(struct conn *c);
// Nothing is on its way, for at least SERVER_IDLE_MS.
bool conn_is_idle(const struct conn *c, uint64_t now_ns);
uint64_t conn_active_ns(const struct conn *c); // of the last request
// Ends it from the loop, without flushing.
void conn_kill(struct conn *c);
