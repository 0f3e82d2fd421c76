// SPDX-License-Identifier: Apache-2.0
#include "features/node/node.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"

struct node_table {
	struct map *by_name; // owns the nodes
	const struct node *self;
};

void node_free(struct node *n)
{
	if (!n)
		return;
	free(n->name);
	free(n);
}

static void free_value(void *value)
{
	node_free(value);
}

struct node_table *node_table_new(void)
{
	struct node_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->by_name = map_new(free_value);
	if (!t->by_name) {
		free(t);
		return NULL;
	}
	return t;
}

void node_table_free(struct node_table *t)
{
	if (!t)
		return;
	map_free(t->by_name);
	free(t);
}

int node_table_set(struct node_table *t, struct node *n)
{
	struct node *old = map_get(t->by_name, n->name);
	int r;

	if (!old && map_len(t->by_name) >= NODES_MAX)
		return -E2BIG;
	if (old && old == t->self)
		t->self = NULL;
	r = map_set(t->by_name, n->name, n);
	if (r == 0 && n->self) {
		if (t->self)
			((struct node *)t->self)->self = false;
		t->self = n;
	}
	return r;
}

bool node_table_del(struct node_table *t, const char *name)
{
	if (t->self && map_get(t->by_name, name) == t->self)
		t->self = NULL;
	return map_del(t->by_name, name);
}

struct sweep {
	struct node_table *table;
	uint64_t generation;
	size_t count;
};

static int sweep_one(const char *key, void *value, void *arg)
{
	const struct node *n = value;
	struct sweep *s = arg;

	if (n->generation < s->generation)
		s->count += node_table_del(s->table, key);
	return 0;
}

size_t node_table_sweep(struct node_table *t, uint64_t generation)
{
	struct sweep s = {.table = t, .generation = generation};

	(void)map_foreach(t->by_name, sweep_one, &s);
	return s.count;
}

const struct node *node_table_self(const struct node_table *t)
{
	return t->self;
}

size_t node_table_len(const struct node_table *t)
{
	return map_len(t->by_name);
}

struct walk {
	int (*fn)(const struct node *n, void *arg);
	void *arg;
};

static int walk_one(const char *key, void *value, void *arg)
{
	struct walk *w = arg;

	(void)key;
	return w->fn(value, w->arg);
}

int node_table_foreach(struct node_table *t, int (*fn)(const struct node *n, void *arg), void *arg)
{
	struct walk w = {.fn = fn, .arg = arg};

	return map_foreach(t->by_name, walk_one, &w);
}
