// SPDX-License-Identifier: Apache-2.0
// Packet counters: one set per worker, written by that worker only (relaxed stores), summed on
// read.
//
// counters_port gives the row of one port. The control thread reads at any time; a row is zeroed by
// counters_retire when its port goes, after its sums went to the "gone" row, so totals never fall.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "core/port.h"
#include "packet/drop.h"

struct port_counters {
	_Atomic uint64_t rx_packets, rx_bytes, tx_packets,
		tx_bytes; // bytes from the Ethernet header
	_Atomic uint64_t drops[DROP_COUNT];
};

// One worker's counters. Large: allocated once at start.
struct counters {
	struct port_counters port[PORT_MAX]; // row 0: frames of no known port
	_Atomic uint64_t bursts,
		burst_packets; // receive bursts that held something, and their packets
	_Atomic uint64_t emc_hits, emc_misses;
	_Atomic uint64_t busy_ns, idle_ns, asleep_ns; // worker time, see main/worker.h
	_Atomic uint64_t icmp_limited;                // errors not sent because of the rate limit
};

// Single-writer add: a plain load, add and store, no locked instruction.
static inline void counter_add(_Atomic uint64_t *c, uint64_t n)
{
	uint64_t v = atomic_load_explicit(c, memory_order_relaxed);
	atomic_store_explicit(c, v + n, memory_order_relaxed);
}

// Counts a drop on port id (bounds checked, unknown ids go to row 0).
static inline void counter_drop(struct counters *c, uint16_t port, enum drop_reason reason,
				uint64_t n)
{
	counter_add(&c->port[port < PORT_MAX ? port : 0].drops[reason], n);
}

// Allocates the sets of all workers. 0 or -ENOMEM. Control thread, at start.
int counters_init(unsigned workers);
void counters_fini(void);
struct counters *counters_worker(unsigned worker);
// Sum over workers of one port's row (plain numbers).
struct counters_sum {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t drops[DROP_COUNT];
};
void counters_sum_port(uint16_t id, struct counters_sum *ret);
// Sum of ports that are gone.
void counters_sum_gone(struct counters_sum *ret);
// Moves a port's row to "gone" and zeroes it. Control thread, after the grace period.
void counters_retire(uint16_t id);
