// SPDX-License-Identifier: Apache-2.0
#include "json/jput.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json_object.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/jdoc.h"

#define DEPTH_MAX 32

struct jput {
	struct json_object *root;            // owned
	struct json_object *open[DEPTH_MAX]; // containers not closed yet, borrowed from root
	unsigned depth;
	bool started, failed;
};

struct jput *jput_new(void)
{
	return calloc(1, sizeof(struct jput));
}

static void reset(struct jput *j)
{
	json_object_put(j->root);
	*j = (struct jput){0};
}

void jput_free(struct jput *j)
{
	if (!j)
		return;
	reset(j);
	free(j);
}

void jput_freep(struct jput **j)
{
	jput_free(*j);
	*j = NULL;
}

// Hangs node (taken) under the innermost open container. NULL stands for JSON null.
static bool attach(struct jput *j, const char *key, struct json_object *node)
{
	struct json_object *parent = j->depth > 0 ? j->open[j->depth - 1] : NULL;

	if (!parent && !key && !j->started) {
		j->root = node;
		j->started = true;
		return true;
	}
	if (json_object_is_type(parent, json_type_object))
		return key && json_object_object_add(parent, key, node) == 0;
	if (json_object_is_type(parent, json_type_array))
		return !key && json_object_array_add(parent, node) == 0;
	return false;
}

// node: taken; NULL where there was no memory for it, unless it is a null.
static bool put(struct jput *j, const char *key, struct json_object *node, bool is_null)
{
	if (j && !j->failed && (node || is_null) && attach(j, key, node))
		return true;
	json_object_put(node);
	if (j)
		j->failed = true;
	return false;
}

static void open_container(struct jput *j, const char *key, struct json_object *node)
{
	if (!put(j, key, node, false))
		return;
	if (j->depth == DEPTH_MAX) {
		j->failed = true;
		return;
	}
	j->open[j->depth++] = node;
}

void jput_object(struct jput *j, const char *key)
{
	open_container(j, key, json_object_new_object());
}

void jput_array(struct jput *j, const char *key)
{
	open_container(j, key, json_object_new_array());
}

void jput_end(struct jput *j)
{
	if (!j)
		return;
	if (j->depth == 0)
		j->failed = true;
	else
		j->depth--;
}

void jput_null(struct jput *j, const char *key)
{
	put(j, key, NULL, true);
}

void jput_string(struct jput *j, const char *key, const char *value)
{
	if (!value) {
		jput_null(j, key);
		return;
	}
	if (utf8_is_valid(value, strlen(value))) {
		put(j, key, json_object_new_string(value), false);
		return;
	}
	// Kernel names and file names are bytes; what leaves here must be JSON.
	_free_ char *repaired = utf8_repair(value);
	put(j, key, repaired ? json_object_new_string(repaired) : NULL, false);
}

void jput_int(struct jput *j, const char *key, int64_t value)
{
	put(j, key, json_object_new_int64(value), false);
}

void jput_u64(struct jput *j, const char *key, uint64_t value)
{
	put(j, key, json_object_new_uint64(value), false);
}

void jput_double(struct jput *j, const char *key, double value)
{
	char text[32];

	// JSON has no word for these.
	if (!isfinite(value)) {
		jput_null(j, key);
		return;
	}
	snprintf(text, sizeof(text), "%.6g", value);
	put(j, key, json_object_new_double_s(value, text), false);
}

void jput_bool(struct jput *j, const char *key, bool value)
{
	put(j, key, json_object_new_boolean(value), false);
}

void jput_ipaddr(struct jput *j, const char *key, const struct ipaddr *a)
{
	char text[IPADDR_TEXT_MAX];

	jput_string(j, key, ipaddr_format(a, text));
}

void jput_ipprefix(struct jput *j, const char *key, const struct ipprefix *p)
{
	char text[IPPREFIX_TEXT_MAX];

	jput_string(j, key, ipprefix_format(p, text));
}

void jput_mac(struct jput *j, const char *key, const struct macaddr *m)
{
	char text[MACADDR_TEXT_MAX];

	jput_string(j, key, macaddr_format(m, text));
}

void jput_value(struct jput *j, const char *key, const struct jval *v)
{
	struct json_object *copy = NULL;

	if (v->node && json_object_deep_copy(v->node, &copy, NULL) < 0)
		copy = NULL;
	put(j, key, copy, !v->node);
}

static bool is_complete(const struct jput *j)
{
	return j && j->started && !j->failed && j->depth == 0;
}

char *jput_take(struct jput *j)
{
	char *text = NULL;

	if (!j)
		return NULL;
	if (is_complete(j)) {
		struct jval root = {.node = j->root};
		text = jval_text(&root);
	}
	reset(j);
	return text;
}

struct jdoc *jput_take_doc(struct jput *j)
{
	struct jdoc *doc = is_complete(j) ? calloc(1, sizeof(*doc)) : NULL;

	if (doc)
		doc->root = TAKE_PTR(j->root);
	if (j)
		reset(j);
	return doc;
}
