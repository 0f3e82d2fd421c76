// SPDX-License-Identifier: Apache-2.0
// A sink that holds what a source handed over, for tests.
//
//	struct recorder rec;
//	recorder_init(&rec);
//	struct source_sink sink = recorder_sink(&rec);
#pragma once

#include "harness/cm.h"

#include <string.h>

#include "base/map.h"
#include "report/problems.h"
#include "source/source.h"

struct recorder {
	struct map *objects; // key -> struct object
	struct problems *problems;
	size_t sets, dels, synced;
};

static inline void recorder_unref(void *value)
{
	object_unref(value);
}

static inline void recorder_init(struct recorder *rec)
{
	*rec = (struct recorder){.objects = map_new(recorder_unref), .problems = problems_new()};
	assert_non_null(rec->objects);
	assert_non_null(rec->problems);
}

static inline void recorder_fini(struct recorder *rec)
{
	map_free(rec->objects);
	problems_free(rec->problems);
}

static inline void recorder_set(void *arg, struct object *obj)
{
	struct recorder *rec = arg;
	char key[OBJECT_KEY_MAX];

	rec->sets++;
	assert_int_equal(map_set(rec->objects, object_key(obj, key), object_ref(obj)), 0);
}

static inline void recorder_del(void *arg, const struct object *obj)
{
	struct recorder *rec = arg;
	char key[OBJECT_KEY_MAX];

	rec->dels++;
	assert_true(map_del(rec->objects, object_key(obj, key)));
}

static inline void recorder_synced(void *arg)
{
	((struct recorder *)arg)->synced++;
}

static inline void recorder_problems(void *arg, const char *scope, const struct problem_list *list)
{
	problems_set(((struct recorder *)arg)->problems, scope, list);
}

static inline struct source_sink recorder_sink(struct recorder *rec)
{
	return (struct source_sink){.set = recorder_set,
				    .del = recorder_del,
				    .synced = recorder_synced,
				    .problems = recorder_problems,
				    .arg = rec};
}

// All problems as JSON text; the caller frees it.
static inline char *recorder_problem_text(struct recorder *rec)
{
	struct jput *j = jput_new();
	char *text;

	jput_object(j, NULL);
	problems_put(rec->problems, j);
	jput_end(j);
	text = jput_take(j);
	jput_free(j);
	assert_non_null(text);
	return text;
}

// The node a pod runs on, to tell versions of an object apart; "" when there is none.
static inline const char *recorder_node(struct recorder *rec, const char *pod_key)
{
	const struct object *obj = map_get(rec->objects, pod_key);

	return obj ? obj->pod.node : "";
}
