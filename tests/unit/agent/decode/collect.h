// SPDX-License-Identifier: Apache-2.0
// Runs the decoder over a document and keeps what comes out, for tests.
#pragma once

#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/decode.h"

#define COLLECT_MAX 8

struct collected {
	struct object *objects[COLLECT_MAX];
	size_t count, failed, ignored, notes;
	char error[ERR_TEXT_MAX], note[512]; // the last ones
};

static inline void collect_object(void *arg, struct object *obj)
{
	struct collected *c = arg;

	assert_true(c->count < COLLECT_MAX);
	c->objects[c->count++] = obj;
}

static inline void collect_failed(void *arg, const struct err *err)
{
	struct collected *c = arg;

	c->failed++;
	memcpy(c->error, err->text, sizeof(c->error));
}

static inline void collect_ignored(void *arg)
{
	((struct collected *)arg)->ignored++;
}

static inline void collect_note(void *arg, const char *text)
{
	struct collected *c = arg;

	c->notes++;
	snprintf(c->note, sizeof(c->note), "%s", text);
}

// JSON with ' for ".
static inline struct collected collect(const char *quoted)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	_free_ char *text = strdup(quoted);
	struct jlimits limits = {.bytes = 1 << 20, .depth = 32};
	struct collected c = {0};
	struct decode_sink sink = {.object = collect_object,
				   .failed = collect_failed,
				   .ignored = collect_ignored,
				   .notes = {.add = collect_note, .arg = &c},
				   .arg = &c};
	struct err err = ERR_INIT;
	struct jval root;

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (jdoc_parse(text, strlen(text), &limits, &doc, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	root = jdoc_root(doc);
	decode_document(&root, &sink);
	return c;
}

static inline void collected_fini(struct collected *c)
{
	for (size_t i = 0; i < c->count; i++)
		object_unref(c->objects[i]);
}

// A document that must be refused, and a part of the reason; for tables.
struct refused_case {
	const char *text, *reason;
};

static inline void check_refused(const struct refused_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_(collected_fini) struct collected c = collect(cases[i].text);

		if (c.count != 0 || c.failed != 1 || !strstr(c.error, cases[i].reason))
			fail_msg("%s: %zu objects, error `%s`", cases[i].text, c.count, c.error);
	}
}
