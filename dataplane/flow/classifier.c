// SPDX-License-Identifier: Apache-2.0
#include "flow/classifier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/rcu.h"
#include "flow/classifier_tuple.h"

// ---- what only the writer does with published memory ----

static struct classifier_list *list_get(const struct classifier *c)
{
	return atomic_load_explicit(&c->list, memory_order_relaxed);
}

// Pairs with changes_of in classifier_lookup.c.
static void finish_change(struct classifier *c)
{
	const uint64_t n = atomic_load_explicit(&c->changes, memory_order_relaxed);

	atomic_store_explicit(&c->changes, n + 1, memory_order_release);
}

static struct classifier_tuple *tuple_get(const struct classifier *c, const struct flow_key *mask)
{
	const struct classifier_list *list = list_get(c);

	for (unsigned i = 0; i < list->count; i++) {
		if (key_is_equal(&list->slots[i].tuple->full_mask, mask))
			return list->slots[i].tuple;
	}
	return NULL;
}

static void list_insert(struct classifier_list *list, struct classifier_tuple *t)
{
	const int32_t max = classifier_tuple_max(t);
	unsigned i = list->count++;

	for (; i > 0 && list->slots[i - 1].max_priority < max; i--)
		list->slots[i] = list->slots[i - 1];
	list->slots[i] = (struct classifier_slot){.max_priority = max, .tuple = t};
}

static struct classifier_list *list_new(unsigned count)
{
	return calloc(1, sizeof(struct classifier_list) + count * sizeof(struct classifier_slot));
}

// Publishes the list in the order of the tuples' present priorities, with one tuple more or less.
static int relist(struct classifier *c, struct classifier_tuple *add,
		  const struct classifier_tuple *remove)
{
	struct classifier_list *old = list_get(c);
	struct classifier_list *list = list_new(old->count + 1);

	if (list == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < old->count; i++) {
		if (old->slots[i].tuple != remove)
			list_insert(list, old->slots[i].tuple);
	}
	if (add != NULL)
		list_insert(list, add);
	atomic_store_explicit(&c->list, list, memory_order_release);
	rcu_defer(free, old);
	return 0;
}

static void tuple_freep(struct classifier_tuple **t)
{
	classifier_tuple_free(*t);
}

// ---- rules ----

static bool is_key_within_mask(const struct classifier_rule *rule)
{
	uint64_t key[CLASSIFIER_WORDS], mask[CLASSIFIER_WORDS], outside = 0;

	memcpy(key, &rule->key, sizeof(key));
	memcpy(mask, &rule->mask, sizeof(mask));
	for (int i = 0; i < CLASSIFIER_WORDS; i++)
		outside |= key[i] & ~mask[i];
	return outside == 0;
}

static struct classifier_node *node_of(struct classifier *c, struct classifier_tuple *t,
				       const struct classifier_rule *rule, void *value)
{
	struct classifier_node *n = classifier_tuple_node(t, rule, c->seed);

	if (n != NULL) {
		n->age = c->next_age++;
		atomic_store_explicit(&n->value, value, memory_order_relaxed);
	}
	return n;
}

// Readers must know of a higher priority before the rule that has it is there, since they stop at
// what the list promises.
static int rule_add(struct classifier *c, struct classifier_tuple *t,
		    const struct classifier_rule *rule, void *value)
{
	const int32_t max = classifier_tuple_max(t);
	_free_ struct classifier_node *n = node_of(c, t, rule, value);

	if (n == NULL || classifier_tuple_count(t, rule->priority) < 0)
		return -ENOMEM;
	if (rule->priority > max && relist(c, NULL, NULL) < 0) {
		classifier_tuple_uncount(t, rule->priority);
		return -ENOMEM;
	}
	classifier_tuple_insert(t, TAKE_PTR(n));
	return 0;
}

static int tuple_add(struct classifier *c, const struct classifier_rule *rule, void *value)
{
	_cleanup_(tuple_freep) struct classifier_tuple *t = NULL;
	struct classifier_node *n;

	if (list_get(c)->count >= c->max_masks)
		return -ENOSPC;
	t = classifier_tuple_new(&rule->mask);
	if (t == NULL || classifier_tuple_count(t, rule->priority) < 0)
		return -ENOMEM;
	n = node_of(c, t, rule, value);
	if (n == NULL)
		return -ENOMEM;
	classifier_tuple_insert(t, n);
	if (relist(c, t, NULL) < 0)
		return -ENOMEM;
	TAKE_PTR(t);
	return 0;
}

int classifier_set(struct classifier *c, const struct classifier_rule *rule, void *value,
		   void **ret_old)
{
	struct classifier_tuple *t = tuple_get(c, &rule->mask);
	classifier_link *link = t != NULL ? classifier_tuple_find(t, rule, c->seed) : NULL;
	void *old = NULL;
	int r;

	if (value == NULL || !is_key_within_mask(rule))
		return -EINVAL;
	if (link != NULL) {
		old = atomic_exchange_explicit(&atomic_load(link)->value, value,
					       memory_order_acq_rel);
	} else {
		r = t != NULL ? rule_add(c, t, rule, value) : tuple_add(c, rule, value);
		if (r < 0)
			return r;
		c->rules++;
	}
	finish_change(c);
	if (ret_old != NULL)
		*ret_old = old;
	return 0;
}

// Without memory the list keeps promising too much, which only costs time, or an empty tuple, which
// the next rule with its mask takes up again.
static void tuple_shrink(struct classifier *c, struct classifier_tuple *t, int32_t old_max)
{
	if (t->rules == 0) {
		if (relist(c, NULL, t) == 0)
			rcu_defer(classifier_tuple_free, t);
	} else if (classifier_tuple_max(t) != old_max) {
		(void)relist(c, NULL, NULL);
	}
}

void *classifier_del(struct classifier *c, const struct classifier_rule *rule)
{
	struct classifier_tuple *t = tuple_get(c, &rule->mask);
	classifier_link *link = t != NULL ? classifier_tuple_find(t, rule, c->seed) : NULL;
	struct classifier_node *n;
	int32_t max;
	void *value;

	if (link == NULL || !is_key_within_mask(rule))
		return NULL;
	n = atomic_load(link);
	value = atomic_load_explicit(&n->value, memory_order_relaxed);
	max = classifier_tuple_max(t);
	classifier_tuple_remove(t, link);
	tuple_shrink(c, t, max);
	c->rules--;
	finish_change(c);
	return value;
}

// ---- whole ----

struct classifier *classifier_new(unsigned max_masks, uint64_t seed)
{
	struct classifier *c = calloc(1, sizeof(*c));
	struct classifier_list *list = list_new(0);

	if (c == NULL || list == NULL) {
		free(c);
		free(list);
		return NULL;
	}
	c->max_masks = max_masks;
	c->seed = seed;
	atomic_store_explicit(&c->list, list, memory_order_release);
	return c;
}

void classifier_free(struct classifier *c)
{
	struct classifier_list *list;

	if (c == NULL)
		return;
	list = list_get(c);
	for (unsigned i = 0; i < list->count; i++)
		classifier_tuple_free(list->slots[i].tuple);
	free(list);
	free(c);
}

size_t classifier_len(const struct classifier *c)
{
	return c->rules;
}

unsigned classifier_masks(const struct classifier *c)
{
	return list_get(c)->count;
}

int classifier_foreach(const struct classifier *c,
		       int (*fn)(const struct classifier_rule *rule, void *value, void *arg),
		       void *arg)
{
	const struct classifier_list *list = list_get(c);
	int r = 0;

	for (unsigned i = 0; i < list->count && r == 0; i++)
		r = classifier_tuple_foreach(list->slots[i].tuple, fn, arg);
	return r;
}
