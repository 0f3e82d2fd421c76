// SPDX-License-Identifier: Apache-2.0
#include "flow/emc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define WAYS 2
#define WINDOW 2048          // lookups between two looks at the pressure
#define SHIFT_MAX 7          // lowest chance of a new key under pressure: 1 in 128
#define HITS_PER_EVICTION 16 // below this many hits for each live entry lost, pressure rises
#define USED_GRAIN 1024      // lookups; how exact entry.used is
#define IDLE_FACTOR 16       // an entry not hit for this many lookups per slot is no longer live

enum entry_state {
	ENTRY_EMPTY,
	ENTRY_NEW,    // filled, never hit: a flood of flows that never come back stays here
	ENTRY_PROVEN, // hit at least once
};

struct entry {
	struct flow_key key;
	uint32_t hash;
	uint32_t generation;
	uint32_t used; // emc.clock of the last hit, or of the insertion
	uint8_t state; // enum entry_state
} CACHE_ALIGNED;
_Static_assert(sizeof(struct entry) == CACHE_LINE, "one line per candidate");

// Apart from the entries: a miss touches none of them.
struct decision {
	struct resolved resolved;
} CACHE_ALIGNED;

struct emc {
	struct entry *entries;
	struct decision *decisions; // same index
	uint32_t mask;
	uint32_t shift_second; // of the hash for the second candidate
	uint32_t idle;
	uint64_t clock; // lookups
	uint32_t window_start, window_misses, window_evictions;
	uint64_t random;
	struct emc_stats stats;
};

// Other bits of the hash than the first candidate uses, and all of them mixed.
static uint32_t second_slot(const struct emc *e, uint32_t hash)
{
	return (hash * 0x9e3779b1u) >> e->shift_second;
}

static uint32_t first_slot(const struct emc *e, uint32_t hash)
{
	return hash & e->mask;
}

// The clock as marks keep it: it wraps, and only differences count.
static uint32_t now(const struct emc *e)
{
	return (uint32_t)e->clock;
}

static uint64_t next_random(struct emc *e)
{
	e->random ^= e->random << 13;
	e->random ^= e->random >> 7;
	e->random ^= e->random << 17;
	return e->random;
}

struct emc *emc_new(uint32_t entries, uint64_t seed)
{
	struct emc *e;

	if (entries < WAYS || (entries & (entries - 1)) != 0)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NULL;
	e->entries = aligned_alloc(CACHE_LINE, (size_t)entries * sizeof(*e->entries));
	e->decisions = aligned_alloc(CACHE_LINE, (size_t)entries * sizeof(*e->decisions));
	if (e->entries == NULL || e->decisions == NULL) {
		emc_free(e);
		return NULL;
	}
	memset(e->entries, 0, (size_t)entries * sizeof(*e->entries));
	memset(e->decisions, 0, (size_t)entries * sizeof(*e->decisions));
	e->mask = entries - 1;
	e->shift_second = (uint32_t)__builtin_clz(entries) + 1;
	e->idle = entries * IDLE_FACTOR;
	e->random = seed | 1;
	return e;
}

void emc_free(struct emc *e)
{
	if (e == NULL)
		return;
	free(e->entries);
	free(e->decisions);
	free(e);
}

void emc_prefetch(const struct emc *e, uint32_t hash)
{
	__builtin_prefetch(&e->entries[first_slot(e, hash)]);
	__builtin_prefetch(&e->entries[second_slot(e, hash)]);
}

static inline bool is_entry_of(const struct entry *t, const struct flow_key *key, uint32_t hash)
{
	return t->hash == hash && t->state != ENTRY_EMPTY && key_is_equal(&t->key, key);
}

// The entry of a key, whatever its generation. A key is never in both slots: insertion looks here
// first.
static struct entry *find(const struct emc *e, const struct flow_key *key, uint32_t hash)
{
	struct entry *t = &e->entries[first_slot(e, hash)];

	if (is_entry_of(t, key, hash))
		return t;
	t = &e->entries[second_slot(e, hash)];
	return is_entry_of(t, key, hash) ? t : NULL;
}

// Rises while evictions cost hits and falls back when they do not.
static void adapt(struct emc *e)
{
	const uint32_t hits = now(e) - e->window_start - e->window_misses;

	if (e->window_evictions > hits / HITS_PER_EVICTION) {
		if (e->stats.shift < SHIFT_MAX)
			e->stats.shift++;
	} else if (e->stats.shift > 0) {
		e->stats.shift--;
	}
	e->window_start = now(e);
	e->window_misses = 0;
	e->window_evictions = 0;
}

// Kept out of the path of a hit.
static __attribute__((noinline)) struct resolved *miss(struct emc *e, bool stale)
{
	e->stats.misses++;
	e->stats.stale += stale;
	e->window_misses++;
	if (now(e) - e->window_start >= WINDOW)
		adapt(e);
	return NULL;
}

struct resolved *emc_lookup(struct emc *e, const struct flow_key *key, uint32_t hash,
			    uint32_t generation)
{
	const uint32_t clock = (uint32_t)++e->clock;
	uint32_t i = first_slot(e, hash);

	if (!is_entry_of(&e->entries[i], key, hash)) {
		i = second_slot(e, hash);
		if (UNLIKELY(!is_entry_of(&e->entries[i], key, hash)))
			return miss(e, false);
	}
	if (UNLIKELY(e->entries[i].generation != generation))
		return miss(e, true);
	// Stores without a condition: whether a mark is old is nothing that a processor can guess.
	e->entries[i].used = clock;
	e->entries[i].state = ENTRY_PROVEN;
	return &e->decisions[i].resolved;
}

static bool is_live(const struct emc *e, const struct entry *t, uint32_t generation)
{
	return t->state != ENTRY_EMPTY && t->generation == generation && now(e) - t->used < e->idle;
}

// Moves a live entry to its other slot if that one is free, which makes its own place free.
static bool move_away(struct emc *e, struct entry *t, uint32_t generation)
{
	const uint32_t from = (uint32_t)(t - e->entries);
	const uint32_t first = first_slot(e, t->hash);
	const uint32_t to = from == first ? second_slot(e, t->hash) : first;

	if (is_live(e, &e->entries[to], generation))
		return false;
	e->entries[to] = *t;
	e->decisions[to] = e->decisions[from];
	e->stats.moves++;
	return true;
}

// Of two live entries the one that is worth less: never hit, else longer unused.
static struct entry *worse(const struct emc *e, struct entry *a, struct entry *b)
{
	if (a->state != b->state)
		return a->state < b->state ? a : b;
	return now(e) - a->used >= now(e) - b->used ? a : b;
}

// Under pressure a proven entry has twice the bits of protection: the flows of a flood mostly
// replace each other, and a flow that comes back finds its way in past them.
static bool is_lucky(struct emc *e, const struct entry *victim)
{
	const unsigned bits = victim->state == ENTRY_PROVEN ? 2 * e->stats.shift : e->stats.shift;

	return (next_random(e) >> 32 & ((1u << bits) - 1)) == 0;
}

// The slot for a new key, or NULL. Free ones are taken at once; a live entry only goes with luck.
static struct entry *choose(struct emc *e, uint32_t hash, uint32_t generation)
{
	struct entry *a = &e->entries[first_slot(e, hash)];
	struct entry *b = &e->entries[second_slot(e, hash)];

	if (!is_live(e, a, generation))
		return a;
	if (!is_live(e, b, generation))
		return b;
	if (move_away(e, a, generation))
		return a;
	if (move_away(e, b, generation))
		return b;
	a = worse(e, a, b);
	if (!is_lucky(e, a))
		return NULL;
	e->stats.evictions++;
	e->window_evictions++;
	return a;
}

struct resolved *emc_insert(struct emc *e, const struct flow_key *key, uint32_t hash,
			    uint32_t generation)
{
	struct entry *t = find(e, key, hash);

	if (t == NULL) {
		t = choose(e, hash, generation);
		if (t == NULL) {
			e->stats.refused++;
			return NULL;
		}
		t->key = *key;
		t->hash = hash;
		t->state = ENTRY_NEW;
	}
	t->generation = generation;
	t->used = now(e);
	e->stats.inserts++;
	return &e->decisions[t - e->entries].resolved;
}

void emc_stats_get(const struct emc *e, struct emc_stats *ret)
{
	*ret = e->stats;
	ret->lookups = e->clock;
}
