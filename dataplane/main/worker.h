// SPDX-License-Identifier: Apache-2.0
// Worker threads: the run-to-completion loop receive -> parse -> guard -> cache -> resolve ->
// output.
//
// Each worker runs on one EAL worker lcore, alone on its rx, output, cache and counters. It spins
// for spin_ns after the last packet and then sleeps in poll; every way into the sleep flushes
// first. Within a millisecond of a bulk frame it does not spin: the frame's two ends want the CPU.
#pragma once

#include "base/err.h"
#include "io/rx.h"

struct worker_conf {
	unsigned workers;
	struct rx_group *rx;
	uint64_t spin_ns; // busy polling after the last frame before sleeping
	uint32_t emc_entries;
};

// Starts the workers (EAL must be up with at least workers + 1 lcores). 0 or -errno.
int workers_start(const struct worker_conf *conf, struct err *err);
// Stops and joins them; buffers are flushed.
void workers_stop(void);
// CPU a worker ran on last, -1 unknown.
int worker_cpu(unsigned worker);
