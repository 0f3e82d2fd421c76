// SPDX-License-Identifier: Apache-2.0
#include "model/store.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"

struct store {
	struct map *kinds[OBJECT_KIND_COUNT]; // key -> struct object
};

static void unref_value(void *value)
{
	object_unref(value);
}

struct store *store_new(void)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	for (size_t i = 0; i < OBJECT_KIND_COUNT; i++) {
		s->kinds[i] = map_new(unref_value);
		if (!s->kinds[i]) {
			store_free(s);
			return NULL;
		}
	}
	return s;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < OBJECT_KIND_COUNT; i++)
		map_free(s->kinds[i]);
	free(s);
}

void store_freep(struct store **s)
{
	store_free(*s);
}

static void keep_addresses(struct object *obj, const struct object *old)
{
	if (obj->kind == OBJECT_NODE && old && obj->node.ips.count == 0)
		obj->node.ips = old->node.ips;
}

int store_set(struct store *s, struct object *obj)
{
	char key[OBJECT_KEY_MAX];
	struct map *map = s->kinds[obj->kind];
	struct object *old = map_get(map, object_key(obj, key));

	if (old == obj)
		return STORE_SAME;
	keep_addresses(obj, old);
	if (old && object_is_equal(old, obj))
		return STORE_SAME;
	object_ref(obj);
	if (map_set(map, key, obj) < 0) {
		object_unref(obj);
		return -ENOMEM;
	}
	return STORE_CHANGED;
}

bool store_del(struct store *s, enum object_kind kind, const char *key)
{
	return map_del(s->kinds[kind], key);
}

struct object *store_get(const struct store *s, enum object_kind kind, const char *key)
{
	return map_get(s->kinds[kind], key);
}

size_t store_len(const struct store *s, enum object_kind kind)
{
	return map_len(s->kinds[kind]);
}
