// SPDX-License-Identifier: Apache-2.0
// A connection to weftd's socket that never blocks and comes back by itself.
//
//	r = conn_new(base, "/run/weft/weftd.sock", &hooks, &c);
//	conn_start(c);                 up() follows when the daemon answers the door
//	conn_send(c, text, len);       one line
//	conn_drop(c, "no reply");      gives it up; down(), then up() again later
//
// Retries start at CONN_RETRY_MIN_MS and double up to CONN_RETRY_MAX_MS, each with a jitter of a
// quarter; conn_settled puts the delay back to the start. Hooks run from the event loop only, never
// from conn_send. A hook may call conn_send, conn_drop and conn_settled, not conn_free. One thread.
#pragma once

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define CONN_RETRY_MIN_MS 50
#define CONN_RETRY_MAX_MS 1000
#define CONN_OUT_MAX (4u << 20) // bytes that may wait for the daemon to read

struct conn;

struct conn_hooks {
	void (*up)(void *arg);
	void (*line)(void *arg, const char *text, size_t len);
	// why: for the log. was_up: an established connection was lost, else an attempt failed.
	void (*down)(void *arg, bool was_up, const char *why);
	void *arg;
};

// base and hooks are borrowed; path is copied. 0 or -ENOMEM.
int conn_new(struct event_base *base, const char *path, const struct conn_hooks *hooks,
	     struct conn **ret_conn) MUST_CHECK;
void conn_start(struct conn *c);
void conn_free(struct conn *c);
bool conn_is_up(const struct conn *c);
// Queues text and a newline. Without a connection, or when the daemon reads nothing for too long,
// the line is lost and the connection is given up.
void conn_send(struct conn *c, const char *text, size_t len);
// Gives the connection up; down() comes from the event loop.
void conn_drop(struct conn *c, const char *why);
// The daemon behaves: the next retry starts with the shortest delay.
void conn_settled(struct conn *c);
