// SPDX-License-Identifier: Apache-2.0
// Keeps weftd in step with a differ: the agent's end of the control socket.
//
//	r = sync_new(base, run_dir, differ, &hooks, &s);
//	sync_start(s);
//	sync_set_complete(s);   the source was read: weftd may drop what is not repeated
//	sync_kick(s);           the differ, or what report() returns, has changed
//
// After each connect: hello, begin-sync, everything in batches, end-sync; then only changes. One
// request is in flight at any time, so that replies need no numbers. A batch that weftd refuses is
// halved until the one bad op is known; that op is set aside and told to the hooks, the rest goes
// on. Reports are sent after hello and whenever sync_report_due was called. Until weftd says that
// it is ready, it is asked again every SYNC_READY_MS. No reply within SYNC_REPLY_MS: reconnect. One
// thread, all by the event loop.
#pragma once

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "sync/differ.h"

#define SYNC_BATCH_OPS 500
#define SYNC_BATCH_BYTES (900u << 10) // of ops; a line is at most 1 MiB
#define SYNC_REPLY_MS 10000
#define SYNC_READY_MS 250
#define SYNC_BUSY_MS 200 // pause after "try again"

struct sync;

struct sync_hooks {
	// The text of a report message, malloc'ed, or NULL when memory is short.
	char *(*report)(void *arg);
	// weftd answered whether an ADD would work; why is "" when ready.
	void (*ready)(void *arg, bool is_ready, const char *why);
	// weftd refused the object with this key; why is its text. NULL key: the list starts anew.
	void (*refused)(void *arg, const char *key, const char *why);
	void *arg;
};

// For metrics and health.
struct sync_stats {
	bool is_connected; // hello was answered
	bool is_synced;    // end-sync was answered on this connection
	uint64_t connects, resyncs, applied, refused;
};

// base, differ and hooks are borrowed. 0 or -ENOMEM.
int sync_new(struct event_base *base, const char *run_dir, struct differ *differ,
	     const struct sync_hooks *hooks, struct sync **ret_sync) MUST_CHECK;
void sync_start(struct sync *s);
void sync_free(struct sync *s);
void sync_set_complete(struct sync *s);
// Cheap and repeatable: work is done once, when the event loop comes round.
void sync_kick(struct sync *s);
void sync_report_due(struct sync *s);
const struct sync_stats *sync_stats_get(const struct sync *s);
