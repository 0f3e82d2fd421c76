// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"

// Keys come from outside (names, labels): a seed per map keeps chains short for hostile ones too.
// Every function that uses a HASH_ macro has the map in `m`.
#define HASH_FUNCTION(key, size, hashv) ((hashv) = (unsigned)hash_bytes(key, size, m->seed))
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->lost = true)
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	void *value;
	bool lost; // uthash had no memory to take the entry in
	char key[];
};

struct map {
	struct entry *head;
	void (*value_free)(void *);
	uint64_t seed;
};

struct map *map_new(void (*value_free)(void *))
{
	struct map *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->value_free = value_free;
	if (getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) < 0)
		m->seed = (uintptr_t)m;
	return m;
}

static void value_drop(const struct map *m, void *value)
{
	if (m->value_free)
		m->value_free(value);
}

void map_free(struct map *m)
{
	struct entry *e, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->head, e, next) {
		HASH_DEL(m->head, e);
		value_drop(m, e->value);
		free(e);
	}
	free(m);
}

void map_freep(struct map **m)
{
	map_free(*m);
	*m = NULL;
}

static struct entry *find(const struct map *m, const char *key)
{
	struct entry *e = NULL;

	HASH_FIND(hh, m->head, key, strlen(key), e);
	return e;
}

static int insert(struct map *m, const char *key, void *value)
{
	size_t len = strlen(key);
	struct entry *e = calloc(1, sizeof(*e) + len + 1);

	if (!e)
		return -ENOMEM;
	memcpy(e->key, key, len + 1);
	e->value = value;
	HASH_ADD_KEYPTR(hh, m->head, e->key, len, e);
	if (e->lost) {
		free(e);
		return -ENOMEM;
	}
	return 0;
}

int map_set(struct map *m, const char *key, void *value)
{
	struct entry *e = find(m, key);

	if (!e)
		return insert(m, key, value);
	if (e->value != value)
		value_drop(m, e->value);
	e->value = value;
	return 0;
}

void *map_get(const struct map *m, const char *key)
{
	const struct entry *e = find(m, key);

	return e ? e->value : NULL;
}

bool map_del(struct map *m, const char *key)
{
	struct entry *e = find(m, key);

	if (!e)
		return false;
	HASH_DEL(m->head, e);
	value_drop(m, e->value);
	free(e);
	return true;
}

void *map_take(struct map *m, const char *key)
{
	struct entry *e = find(m, key);
	void *value = e ? e->value : NULL;

	if (e) {
		HASH_DEL(m->head, e);
		free(e);
	}
	return value;
}

size_t map_len(const struct map *m)
{
	return HASH_COUNT(m->head);
}

int map_foreach(struct map *m, int (*fn)(const char *key, void *value, void *arg), void *arg)
{
	struct entry *e, *next;
	int r;

	HASH_ITER (hh, m->head, e, next) {
		r = fn(e->key, e->value, arg);
		if (r != 0)
			return r;
	}
	return 0;
}
