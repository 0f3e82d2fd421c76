// SPDX-License-Identifier: Apache-2.0
// What one worker does to a batch: parse -> guard -> cache -> (miss) resolve -> rewrite -> output.
//
// Split from the thread so that tests put frames in and take frames out without one. A pipeline
// belongs to one worker. After pipeline_run every frame was queued, answered or counted as a drop;
// the caller then calls pipeline_flush before it gives receive memory back. Neither logs, locks nor
// allocates.
#pragma once

#include <stdint.h>

#include "core/counters.h"
#include "packet/pkt.h"

struct rte_mempool;
struct pipeline;

struct pipeline_conf {
	unsigned worker;
	uint32_t emc_entries;     // power of two
	struct rte_mempool *pool; // of frames that weftd writes itself; borrowed
};

// Control thread, at start. NULL when memory is short.
struct pipeline *pipeline_new(const struct pipeline_conf *conf);
void pipeline_free(struct pipeline *pl);
// n <= PKT_BURST frames as rx_burst gave them. now_ns: monotonic, for rate limits.
void pipeline_run(struct pipeline *pl, struct pkt *pkts, unsigned n, uint64_t now_ns);
void pipeline_flush(struct pipeline *pl);
// Frames queued and not yet sent: 0 after a flush.
unsigned pipeline_pending(const struct pipeline *pl);
