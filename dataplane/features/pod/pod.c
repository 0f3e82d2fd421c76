// SPDX-License-Identifier: Apache-2.0
#include "features/pod/pod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"

#define KEY_MAX 2100 // two strings of at most 1024 bytes

struct pod_table {
	struct map *by_key; // "namespace/name", owns the pods
};

void pod_free(struct pod *p)
{
	if (!p)
		return;
	free(p->namespace);
	free(p->name);
	free(p->uid);
	free(p->node);
	free(p->phase);
	free(p);
}

static void free_value(void *value)
{
	pod_free(value);
}

static const char *key_text(const char *namespace, const char *name, char out[KEY_MAX])
{
	snprintf(out, KEY_MAX, "%s/%s", namespace, name);
	return out;
}

struct pod_table *pod_table_new(void)
{
	struct pod_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->by_key = map_new(free_value);
	if (!t->by_key) {
		free(t);
		return NULL;
	}
	return t;
}

void pod_table_free(struct pod_table *t)
{
	if (!t)
		return;
	map_free(t->by_key);
	free(t);
}

int pod_table_set(struct pod_table *t, struct pod *p)
{
	char key[KEY_MAX];

	key_text(p->namespace, p->name, key);
	if (map_len(t->by_key) >= PODS_MAX && !map_get(t->by_key, key))
		return -E2BIG;
	return map_set(t->by_key, key, p);
}

bool pod_table_del(struct pod_table *t, const char *namespace, const char *name)
{
	char key[KEY_MAX];

	return map_del(t->by_key, key_text(namespace, name, key));
}

struct sweep {
	struct pod_table *table;
	uint64_t generation;
	size_t count;
};

static int sweep_one(const char *key, void *value, void *arg)
{
	const struct pod *p = value;
	struct sweep *s = arg;

	if (p->generation < s->generation)
		s->count += map_del(s->table->by_key, key);
	return 0;
}

size_t pod_table_sweep(struct pod_table *t, uint64_t generation)
{
	struct sweep s = {.table = t, .generation = generation};

	(void)map_foreach(t->by_key, sweep_one, &s);
	return s.count;
}

const struct pod *pod_table_get(const struct pod_table *t, const char *namespace, const char *name)
{
	char key[KEY_MAX];

	return map_get(t->by_key, key_text(namespace, name, key));
}

size_t pod_table_len(const struct pod_table *t)
{
	return map_len(t->by_key);
}
