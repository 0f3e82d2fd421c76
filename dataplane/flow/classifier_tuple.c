// SPDX-License-Identifier: Apache-2.0
// Inside of one tuple: its nodes, its hash table, and which priorities its rules have.
#include "flow/classifier_tuple.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/rcu.h"

#define BUCKETS_MIN 8

static struct classifier_table *table_get(const struct classifier_tuple *t)
{
	return atomic_load_explicit(&t->table, memory_order_relaxed);
}

static struct classifier_node *link_get(const classifier_link *link)
{
	return atomic_load_explicit(link, memory_order_relaxed);
}

static void link_set(classifier_link *link, struct classifier_node *n)
{
	atomic_store_explicit(link, n, memory_order_release);
}

// ---- nodes and tables ----

struct classifier_node *classifier_tuple_node(const struct classifier_tuple *t,
					      const struct classifier_rule *rule, uint64_t seed)
{
	const size_t size = sizeof(struct classifier_node) + t->words * sizeof(uint64_t);
	// Lines of its own: a search touches one, or two where the mask looks at all five words.
	struct classifier_node *n =
		aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

	if (n == NULL)
		return NULL;
	memset(n, 0, size);
	classifier_pack(t, &rule->key, n->words);
	n->hash = classifier_hash(n->words, t->words, seed);
	n->priority = rule->priority;
	return n;
}

static struct classifier_node *node_copy(const struct classifier_tuple *t,
					 const struct classifier_node *from)
{
	const size_t size = sizeof(*from) + t->words * sizeof(uint64_t);
	struct classifier_node *n =
		aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

	if (n == NULL)
		return NULL;
	memcpy(n, from, size);
	link_set(&n->next, NULL);
	return n;
}

static void table_free(void *p)
{
	struct classifier_table *table = p;

	for (uint32_t i = 0; table != NULL && i <= table->mask; i++) {
		struct classifier_node *n = link_get(&table->buckets[i]);

		while (n != NULL) {
			struct classifier_node *next = link_get(&n->next);

			free(n);
			n = next;
		}
	}
	free(table);
}

static void table_freep(struct classifier_table **table)
{
	table_free(*table);
}

static struct classifier_table *table_new(uint32_t buckets)
{
	struct classifier_table *table =
		calloc(1, sizeof(*table) + (size_t)buckets * sizeof(table->buckets[0]));

	if (table != NULL)
		table->mask = buckets - 1;
	return table;
}

// Where a node belongs: before the first one of its key with less priority, else at the end.
static classifier_link *place_of(struct classifier_table *table, const struct classifier_tuple *t,
				 const struct classifier_node *n)
{
	classifier_link *link = &table->buckets[n->hash & table->mask];

	for (struct classifier_node *at; (at = link_get(link)) != NULL; link = &at->next) {
		if (classifier_is_key(at, n->words, t->words, n->hash) &&
		    at->priority < n->priority)
			break;
	}
	return link;
}

static void table_insert(struct classifier_table *table, const struct classifier_tuple *t,
			 struct classifier_node *n)
{
	classifier_link *link = place_of(table, t, n);

	link_set(&n->next, link_get(link));
	link_set(link, n);
}

static int table_copy(struct classifier_table *to, const struct classifier_tuple *t,
		      const struct classifier_table *from)
{
	for (uint32_t i = 0; i <= from->mask; i++) {
		for (const struct classifier_node *n = link_get(&from->buckets[i]); n != NULL;
		     n = link_get(&n->next)) {
			struct classifier_node *copy = node_copy(t, n);

			if (copy == NULL)
				return -ENOMEM;
			table_insert(to, t, copy);
		}
	}
	return 0;
}

// Doubles the buckets once there is a rule for each. Without memory the chains just get longer.
static void tuple_grow(struct classifier_tuple *t)
{
	_cleanup_(table_freep) struct classifier_table *table = NULL;
	struct classifier_table *old = table_get(t);

	if (t->rules <= old->mask || old->mask >= UINT32_MAX / 2)
		return;
	table = table_new((old->mask + 1) * 2);
	if (table == NULL || table_copy(table, t, old) < 0)
		return;
	atomic_store_explicit(&t->table, TAKE_PTR(table), memory_order_release);
	rcu_defer(table_free, old);
}

// ---- priorities of a tuple ----

int32_t classifier_tuple_max(const struct classifier_tuple *t)
{
	return t->counts_len > 0 ? t->counts[t->counts_len - 1].priority : INT32_MIN;
}

// Index of the first entry that is not below the priority.
static size_t count_index(const struct classifier_tuple *t, int32_t priority)
{
	size_t low = 0, high = t->counts_len;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (t->counts[middle].priority < priority)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_count(const struct classifier_tuple *t, size_t i, int32_t priority)
{
	return i < t->counts_len && t->counts[i].priority == priority;
}

static int counts_reserve(struct classifier_tuple *t)
{
	const size_t max = t->counts_max > 0 ? t->counts_max * 2 : 4;
	struct classifier_count *counts;

	if (t->counts_len < t->counts_max)
		return 0;
	counts = reallocarray(t->counts, max, sizeof(*counts));
	if (counts == NULL)
		return -ENOMEM;
	t->counts = counts;
	t->counts_max = max;
	return 0;
}

int classifier_tuple_count(struct classifier_tuple *t, int32_t priority)
{
	const size_t i = count_index(t, priority);

	if (!has_count(t, i, priority)) {
		if (counts_reserve(t) < 0)
			return -ENOMEM;
		memmove(&t->counts[i + 1], &t->counts[i],
			(t->counts_len - i) * sizeof(t->counts[0]));
		t->counts[i] = (struct classifier_count){.priority = priority};
		t->counts_len++;
	}
	t->counts[i].rules++;
	return 0;
}

void classifier_tuple_uncount(struct classifier_tuple *t, int32_t priority)
{
	const size_t i = count_index(t, priority);

	if (--t->counts[i].rules > 0)
		return;
	t->counts_len--;
	memmove(&t->counts[i], &t->counts[i + 1], (t->counts_len - i) * sizeof(t->counts[0]));
}

// ---- tuples ----

void classifier_tuple_free(void *p)
{
	struct classifier_tuple *t = p;

	if (t == NULL)
		return;
	table_free(table_get(t));
	free(t->counts);
	free(t);
}

static void tuple_freep(struct classifier_tuple **t)
{
	classifier_tuple_free(*t);
}

struct classifier_tuple *classifier_tuple_new(const struct flow_key *mask)
{
	_cleanup_(tuple_freep) struct classifier_tuple *t = calloc(1, sizeof(*t));
	uint64_t words[CLASSIFIER_WORDS];

	if (t == NULL)
		return NULL;
	t->full_mask = *mask;
	memcpy(words, mask, sizeof(words));
	for (uint8_t i = 0; i < CLASSIFIER_WORDS; i++) {
		if (words[i] == 0)
			continue;
		t->mask[t->words] = words[i];
		t->at[t->words++] = i;
	}
	atomic_store_explicit(&t->table, table_new(BUCKETS_MIN), memory_order_relaxed);
	return table_get(t) != NULL ? TAKE_PTR(t) : NULL;
}

// ---- rules ----

classifier_link *classifier_tuple_find(struct classifier_tuple *t,
				       const struct classifier_rule *rule, uint64_t seed)
{
	struct classifier_table *table = table_get(t);
	uint64_t words[CLASSIFIER_WORDS];
	classifier_link *link;
	uint32_t hash;

	classifier_pack(t, &rule->key, words);
	hash = classifier_hash(words, t->words, seed);
	link = &table->buckets[hash & table->mask];
	for (struct classifier_node *n; (n = link_get(link)) != NULL; link = &n->next) {
		if (n->priority == rule->priority && classifier_is_key(n, words, t->words, hash))
			return link;
	}
	return NULL;
}

void classifier_tuple_insert(struct classifier_tuple *t, struct classifier_node *n)
{
	table_insert(table_get(t), t, n);
	t->rules++;
	tuple_grow(t);
}

void classifier_tuple_remove(struct classifier_tuple *t, classifier_link *link)
{
	struct classifier_node *n = link_get(link);

	classifier_tuple_uncount(t, n->priority);
	t->rules--;
	// The node itself keeps pointing into the chain for whoever stands on it.
	link_set(link, link_get(&n->next));
	rcu_defer(free, n);
}

static struct classifier_rule rule_of(const struct classifier_tuple *t,
				      const struct classifier_node *n)
{
	struct classifier_rule rule = {.mask = t->full_mask, .priority = n->priority};
	uint64_t words[CLASSIFIER_WORDS] = {0};

	for (unsigned i = 0; i < t->words; i++)
		words[t->at[i]] = n->words[i];
	memcpy(&rule.key, words, sizeof(words));
	return rule;
}

int classifier_tuple_foreach(const struct classifier_tuple *t,
			     int (*fn)(const struct classifier_rule *rule, void *value, void *arg),
			     void *arg)
{
	const struct classifier_table *table = table_get(t);

	for (uint32_t i = 0; i <= table->mask; i++) {
		for (const struct classifier_node *n = link_get(&table->buckets[i]); n != NULL;
		     n = link_get(&n->next)) {
			const struct classifier_rule rule = rule_of(t, n);
			const int r = fn(&rule, atomic_load(&n->value), arg);

			if (r != 0)
				return r;
		}
	}
	return 0;
}
