// SPDX-License-Identifier: Apache-2.0
// String-keyed map of borrowed or owned pointers, over uthash. Insertion order is kept by foreach.
//
// Keys are copied. Values are owned by the map when value_free was given, else borrowed.
// One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

struct map;

// value_free may be NULL. NULL when memory is short.
struct map *map_new(void (*value_free)(void *));
// Frees keys and owned values. NULL is nothing.
void map_free(struct map *m);
void map_freep(struct map **m);
// Sets or replaces (the old value is freed when owned). 0 or -ENOMEM.
int map_set(struct map *m, const char *key, void *value) MUST_CHECK;
// The value, or NULL.
void *map_get(const struct map *m, const char *key);
// Removes and frees an owned value. True when there was one.
bool map_del(struct map *m, const char *key);
// Removes without freeing; the caller takes the value.
void *map_take(struct map *m, const char *key);
size_t map_len(const struct map *m);
// Calls fn for each entry; fn may delete the entry it is given, nothing else. Stops when fn returns
// non-zero and returns that.
int map_foreach(struct map *m, int (*fn)(const char *key, void *value, void *arg), void *arg);
