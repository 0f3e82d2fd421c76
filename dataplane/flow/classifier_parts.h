// SPDX-License-Identifier: Apache-2.0
// Layout that the two halves of the classifier share: classifier.c writes, classifier_lookup.c
// reads. Nobody else includes this.
//
// Readers follow list -> tuple -> table -> node by acquire loads; each of these is published by a
// release store after it is complete. Nodes never change but for `next` and `value`, and a node
// that was taken out still leads back into its chain, so that a reader standing on it misses
// nothing.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "flow/classifier.h"

#define CLASSIFIER_WORDS KEY_WORDS

struct classifier_node {
	_Atomic(struct classifier_node *) next;
	_Atomic(void *) value;
	uint64_t age; // lower is older
	uint32_t hash;
	int32_t priority;
	uint64_t words[]; // the key's words that the mask touches
};

// Rules with one key stand in one chain, the highest priority first.
struct classifier_table {
	uint32_t mask; // buckets - 1
	_Atomic(struct classifier_node *) buckets[];
};

struct classifier_count {
	int32_t priority;
	uint32_t rules;
};

struct classifier_tuple {
	uint64_t mask[CLASSIFIER_WORDS]; // words that are not zero, packed
	uint8_t at[CLASSIFIER_WORDS];    // their places in the key
	uint8_t words;
	_Atomic(struct classifier_table *) table;
	// The rest belongs to the writer.
	struct flow_key full_mask;
	size_t rules;
	struct classifier_count *counts; // rules by priority, lowest first
	size_t counts_len, counts_max;
};

struct classifier_slot {
	int32_t max_priority; // no rule of the tuple has more
	struct classifier_tuple *tuple;
};

// Highest max_priority first.
struct classifier_list {
	unsigned count;
	struct classifier_slot slots[];
};

struct classifier {
	_Atomic(struct classifier_list *) list;
	_Atomic uint64_t changes; // finished ones
	uint64_t seed;
	// The rest belongs to the writer.
	unsigned max_masks;
	size_t rules;
	uint64_t next_age;
};

// Packs the words of a key that the tuple's mask touches, masked.
static inline void classifier_pack(const struct classifier_tuple *t, const struct flow_key *key,
				   uint64_t ret_words[CLASSIFIER_WORDS])
{
	for (unsigned i = 0; i < t->words; i++)
		ret_words[i] = key_word(key, t->at[i]) & t->mask[i];
}

// Mixed with a secret seed, so that nobody outside can make chains long.
static inline uint32_t classifier_hash(const uint64_t *words, unsigned count, uint64_t seed)
{
	uint64_t h = seed;

	for (unsigned i = 0; i < count; i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	h *= 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(h >> 32);
}

// Whether a node has these words; the hash decides nearly every time.
static inline bool classifier_is_key(const struct classifier_node *n, const uint64_t *words,
				     unsigned count, uint32_t hash)
{
	uint64_t differ = n->hash ^ hash;

	for (unsigned i = 0; i < count; i++)
		differ |= n->words[i] ^ words[i];
	return differ == 0;
}
