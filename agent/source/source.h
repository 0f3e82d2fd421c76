// SPDX-License-Identifier: Apache-2.0
// Where objects come from. One implementation reads a folder of manifests (source/manifests.h);
// another may watch an API server. The agent knows them only through this interface.
//
//	r = source->ops->start(source, err);   loads what is there and goes on watching
//	source->ops->stop(source);             ends and frees it
//
// A source hands over whole objects as they change; it calls its sink only from start and from the
// event loop, never from stop. What the sink may rely on: set and del are idempotent events in any
// order; synced comes exactly once, when everything that existed at the start was handed over; what
// cannot be read (any more) is a problem, never a del.
#pragma once

#include "base/err.h"
#include "model/object.h"
#include "model/problem.h"

struct source_sink {
	// A new or changed object; the sink takes its own reference.
	void (*set)(void *arg, struct object *obj);
	// obj names what is gone; its content is the last one known.
	void (*del)(void *arg, const struct object *obj);
	void (*synced)(void *arg);
	// Replaces the list of problems of scope (a file, an object, a watch); empty = mended.
	void (*problems)(void *arg, const char *scope, const struct problem_list *list);
	void *arg;
};

struct source;

struct source_ops {
	const char *name;
	int (*start)(struct source *s, struct err *err);
	void (*stop)(struct source *s);
};

// First member of every implementation's struct.
struct source {
	const struct source_ops *ops;
};
