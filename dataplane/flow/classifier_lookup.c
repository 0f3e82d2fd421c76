// SPDX-License-Identifier: Apache-2.0
#include "flow/classifier.h"

#include "base/compiler.h"
#include "flow/classifier_parts.h"

#define BURST 64
// A lookup that ran across two changes may have seen neither, and is done again. Each round needs
// two changes within it, so the limit is for a writer that never stops.
#define ROUNDS_MAX 16

static struct classifier_list *list_of(const struct classifier *c)
{
	return atomic_load_explicit(&c->list, memory_order_acquire);
}

// Pairs with the store in finish_change: what was read before this load cannot be newer than it
// says.
static uint64_t changes_of(const struct classifier *c)
{
	return atomic_load_explicit(&c->changes, memory_order_acquire);
}

static _Atomic(struct classifier_node *) *bucket_of(struct classifier_tuple *t, uint32_t hash)
{
	struct classifier_table *table = atomic_load_explicit(&t->table, memory_order_acquire);

	return &table->buckets[hash & table->mask];
}

// First in the chain, so of the highest priority.
static struct classifier_node *find(struct classifier_node *n, const uint64_t *words,
				    unsigned count, uint32_t hash)
{
	while (n != NULL && !classifier_is_key(n, words, count, hash))
		n = atomic_load_explicit(&n->next, memory_order_acquire);
	return n;
}

static struct classifier_node *better(struct classifier_node *best, struct classifier_node *n)
{
	if (best == NULL || n == NULL)
		return best == NULL ? n : best;
	if (n->priority != best->priority)
		return n->priority > best->priority ? n : best;
	return n->age < best->age ? n : best;
}

static void *value_of(struct classifier_node *n)
{
	return n == NULL ? NULL : atomic_load_explicit(&n->value, memory_order_acquire);
}

static void *lookup_once(const struct classifier *c, const struct flow_key *key)
{
	const struct classifier_list *list = list_of(c);
	struct classifier_node *best = NULL;

	for (unsigned i = 0; i < list->count; i++) {
		struct classifier_tuple *t = list->slots[i].tuple;
		uint64_t words[CLASSIFIER_WORDS];
		uint32_t hash;

		if (best != NULL && best->priority > list->slots[i].max_priority)
			break;
		classifier_pack(t, key, words);
		hash = classifier_hash(words, t->words, c->seed);
		best = better(best,
			      find(atomic_load_explicit(bucket_of(t, hash), memory_order_acquire),
				   words, t->words, hash));
	}
	return value_of(best);
}

void *classifier_lookup(const struct classifier *c, const struct flow_key *key)
{
	uint64_t before = changes_of(c);
	void *value = NULL;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		uint64_t after;

		value = lookup_once(c, key);
		after = changes_of(c);
		if (LIKELY(after == before))
			break;
		before = after;
	}
	return value;
}

// One key of a burst while one tuple is searched.
struct search {
	unsigned index; // in the burst
	uint32_t hash;
	_Atomic(struct classifier_node *) *bucket;
	struct classifier_node *head;
	uint64_t words[CLASSIFIER_WORDS];
};

struct burst {
	const struct classifier *c;
	const struct flow_key *const *keys;
	unsigned n;
	struct classifier_node *best[BURST];
};

// Starts the search of the keys that the slot's tuple may still improve; how many.
static unsigned start(const struct burst *b, const struct classifier_slot *slot, struct search *s)
{
	struct classifier_tuple *t = slot->tuple;
	unsigned active = 0;

	for (unsigned i = 0; i < b->n; i++) {
		if (b->best[i] != NULL && b->best[i]->priority > slot->max_priority)
			continue;
		s->index = i;
		classifier_pack(t, b->keys[i], s->words);
		s->hash = classifier_hash(s->words, t->words, b->c->seed);
		s->bucket = bucket_of(t, s->hash);
		__builtin_prefetch((const void *)s->bucket);
		s++;
		active++;
	}
	return active;
}

// Three passes, so that the waits for memory of all keys overlap. False: no key can improve any
// more.
static bool search_tuple(struct burst *b, const struct classifier_slot *slot)
{
	struct search s[BURST];
	const unsigned active = start(b, slot, s);

	for (unsigned i = 0; i < active; i++) {
		s[i].head = atomic_load_explicit(s[i].bucket, memory_order_acquire);
		__builtin_prefetch(s[i].head);
	}
	for (unsigned i = 0; i < active; i++) {
		struct classifier_node **best = &b->best[s[i].index];

		*best = better(*best, find(s[i].head, s[i].words, slot->tuple->words, s[i].hash));
	}
	return active > 0;
}

void classifier_lookup_burst(const struct classifier *c, const struct flow_key *const *keys,
			     unsigned n, void **ret)
{
	struct burst b = {.c = c, .keys = keys, .n = n < BURST ? n : BURST};
	const uint64_t before = changes_of(c);
	const struct classifier_list *list = list_of(c);

	for (unsigned i = 0; i < list->count && search_tuple(&b, &list->slots[i]); i++)
		;
	for (unsigned i = 0; i < b.n; i++)
		ret[i] = value_of(b.best[i]);
	if (LIKELY(changes_of(c) == before))
		return;
	for (unsigned i = 0; i < b.n; i++)
		ret[i] = classifier_lookup(c, keys[i]);
}
