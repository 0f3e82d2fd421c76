// SPDX-License-Identifier: Apache-2.0
// Exact-match cache: flow key -> resolved decision, one per worker.
//
// Two candidate slots per hash. An entry is 64 bytes: key (40), hash (4), generation (4), and use
// marks; the decision (struct resolved) lies in a parallel array at the same index, so nothing is
// chased. An entry whose generation is not the current one never forwards: the search ends as a
// miss, the slot of the same key is refilled at once, and stale slots are the first victims. New
// keys enter with a probability that falls while live entries are being evicted and recovers with
// the hit rate (a flood of new flows must not wash out the cache). The hash is compared before the
// key; two keys with equal hashes are told apart by the key.
//
// One thread. No allocation after emc_new.
#pragma once

#include <stdint.h>

#include "flow/resolved.h"
#include "packet/key.h"

struct emc;

// entries: power of two, at least 2, default 8192. NULL when it is none or memory is short. seed:
// of the insertion lottery.
struct emc *emc_new(uint32_t entries, uint64_t seed);
void emc_free(struct emc *e);
// Prefetches both candidate slots.
void emc_prefetch(const struct emc *e, uint32_t hash);
// The decision, or NULL. generation: what the worker read at the start of its burst.
struct resolved *emc_lookup(struct emc *e, const struct flow_key *key, uint32_t hash,
			    uint32_t generation);
// Place for the decision of a key that just missed; the caller fills it before the next call. NULL:
// not taken in (pressure); the decision is used once from the caller's own memory.
struct resolved *emc_insert(struct emc *e, const struct flow_key *key, uint32_t hash,
			    uint32_t generation);

// What happened since emc_new.
struct emc_stats {
	uint64_t lookups, misses; // misses hold the stale ones
	uint64_t stale;           // key found with an old generation
	uint64_t inserts, refused;
	uint64_t moves;     // entries that made room by going to their other slot
	uint64_t evictions; // live entries replaced
	unsigned shift; // pressure: evicting one entry in 2^shift tries, a proven one in 4^shift
};
// Copies the numbers.
void emc_stats_get(const struct emc *e, struct emc_stats *ret);
