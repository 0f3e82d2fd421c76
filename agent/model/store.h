// SPDX-License-Identifier: Apache-2.0
// All objects the source has handed over, by kind and key. Plain data: no I/O, no clock.
//
// The store holds one reference per object. A Node that comes without any address keeps the
// addresses it had (a kubelet that restarts reports an empty list, or a Hostname only, for some
// seconds). Every operation is a hash look-up. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "model/object.h"

struct store;

enum store_result {
	STORE_CHANGED = 0, // new, or differs from what was there
	STORE_SAME = 1,    // nothing to do
};

// Empty; NULL when memory is short.
struct store *store_new(void);
// Drops the store's references. NULL is nothing.
void store_free(struct store *s);
// For _cleanup_().
void store_freep(struct store **s);
// Inserts or replaces; takes a reference of its own. An enum store_result, or -ENOMEM.
int store_set(struct store *s, struct object *obj) MUST_CHECK;
// True when there was one.
bool store_del(struct store *s, enum object_kind kind, const char *key);
// Borrowed; NULL when absent.
struct object *store_get(const struct store *s, enum object_kind kind, const char *key);
size_t store_len(const struct store *s, enum object_kind kind);
