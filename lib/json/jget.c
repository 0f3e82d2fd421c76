// SPDX-License-Identifier: Apache-2.0
#include "json/jget.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json_object.h>
#include <json-c/linkhash.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/jdoc.h"

#define SAMPLE_MAX 40 // bytes of a wrong value shown in an error

struct jval jdoc_root(const struct jdoc *doc)
{
	return (struct jval){.node = doc->root, .path = "$"};
}

bool jval_is_null(const struct jval *v)
{
	return !v->node;
}

enum jtype jval_type(const struct jval *v)
{
	switch (json_object_get_type(v->node)) {
	case json_type_boolean:
		return JTYPE_BOOL;
	case json_type_int:
		return JTYPE_INT;
	case json_type_double:
		return JTYPE_DOUBLE;
	case json_type_string:
		return JTYPE_STRING;
	case json_type_array:
		return JTYPE_ARRAY;
	case json_type_object:
		return JTYPE_OBJECT;
	case json_type_null:
		break;
	}
	return JTYPE_NULL;
}

char *jval_text(const struct jval *v)
{
	const char *text = json_object_to_json_string_ext(
		v->node, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	return text ? strdup(text) : NULL;
}

// ---- errors ----

static const char *type_name(enum jtype type)
{
	static const char *const names[] = {
		[JTYPE_NULL] = "null",        [JTYPE_BOOL] = "a boolean",
		[JTYPE_INT] = "an integer",   [JTYPE_DOUBLE] = "a number",
		[JTYPE_STRING] = "a string",  [JTYPE_ARRAY] = "an array",
		[JTYPE_OBJECT] = "an object",
	};

	return names[type];
}

static int wrong(const struct jval *v, const char *expected, struct err *err)
{
	enum jtype type = jval_type(v);

	if (type == JTYPE_NULL || type == JTYPE_ARRAY || type == JTYPE_OBJECT)
		return err_set(err, 0, "%s: expected %s, got %s", v->path, expected,
			       type_name(type));
	_free_ char *text = jval_text(v);
	if (!text)
		return err_set(err, ENOMEM, "%s", v->path);
	size_t len = strlen(text);
	int shown = (int)utf8_cut(text, len > SAMPLE_MAX ? SAMPLE_MAX : len);
	return err_set(err, 0, "%s: expected %s, got %.*s%s", v->path, expected, shown, text,
		       len > SAMPLE_MAX ? "..." : "");
}

// ---- paths ----

// Appends to the path of a value; what does not fit is cut on the left.
static void path_add(struct jval *child, const char *parent, const char *step)
{
	static const char dots[] = "...";
	size_t a = strlen(parent), b = strlen(step), room = sizeof(child->path) - 1;

	if (a + b <= room) {
		memcpy(child->path, parent, a);
		memcpy(child->path + a, step, b + 1);
		return;
	}
	// Keep the last bytes of both, starting at a character.
	size_t keep = room - strlen(dots), keep_b = b < keep ? b : keep;
	const char *from_b = step + b - keep_b, *from_a = parent + a;
	if (keep_b < keep)
		from_a -= a < keep - keep_b ? a : keep - keep_b;
	while (((unsigned char)*from_a & 0xc0) == 0x80)
		from_a++;
	while (((unsigned char)*from_b & 0xc0) == 0x80)
		from_b++;
	snprintf(child->path, sizeof(child->path), "%s%s%s", dots, from_a, from_b);
}

static struct jval member(const struct jval *obj, const char *key, struct json_object *node)
{
	struct jval v = {.node = node};
	char step[JPATH_MAX + 1];

	snprintf(step, sizeof(step), ".%s", key);
	step[utf8_cut(step, strlen(step))] = '\0';
	path_add(&v, obj->path, step);
	return v;
}

// ---- members ----

static bool find(const struct jval *obj, const char *key, int flags, struct json_object **ret)
{
	if (json_object_object_get_ex(obj->node, key, ret))
		return true;
	if (!(flags & JNOCASE))
		return false;
	const struct lh_table *table = json_object_get_object(obj->node);
	for (struct lh_entry *e = table->head; e; e = e->next) {
		if (strcasecmp(lh_entry_k(e), key) == 0) {
			*ret = (struct json_object *)lh_entry_v(e);
			return true;
		}
	}
	return false;
}

int jget(const struct jval *obj, const char *key, int flags, struct jval *ret, struct err *err)
{
	struct json_object *node = NULL;

	if (obj->node && jval_type(obj) != JTYPE_OBJECT)
		return wrong(obj, type_name(JTYPE_OBJECT), err);
	if (obj->node)
		find(obj, key, flags, &node);
	struct jval v = member(obj, key, node);
	if (!node && (flags & JREQUIRED))
		return err_set(err, 0, "%s: missing", v.path);
	*ret = v;
	return 0;
}

bool jget_has(const struct jval *obj, const char *key, int flags)
{
	struct json_object *node;

	return jval_type(obj) == JTYPE_OBJECT && find(obj, key, flags, &node);
}

// The member when it has the wanted type; absent where that is allowed.
static int get_typed(const struct jval *obj, const char *key, int flags, enum jtype type,
		     struct jval *ret, struct err *err)
{
	struct jval v;
	int r = jget(obj, key, flags, &v, err);

	if (r < 0)
		return r;
	if (v.node && jval_type(&v) != type)
		return wrong(&v, type_name(type), err);
	*ret = v;
	return 0;
}

int jget_string(const struct jval *obj, const char *key, int flags, const char **ret,
		struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_STRING, &v, err);

	if (r == 0 && v.node)
		*ret = json_object_get_string(v.node);
	return r;
}

int jget_bool(const struct jval *obj, const char *key, int flags, bool *ret, struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_BOOL, &v, err);

	if (r == 0 && v.node)
		*ret = json_object_get_boolean(v.node);
	return r;
}

int jget_int(const struct jval *obj, const char *key, int flags, struct jrange range, int64_t *ret,
	     struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_INT, &v, err);

	return r == 0 && v.node ? jval_int(&v, range, ret, err) : r;
}

int jget_u64(const struct jval *obj, const char *key, int flags, uint64_t *ret, struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_INT, &v, err);

	if (r < 0 || !v.node)
		return r;
	int64_t value = json_object_get_int64(v.node);
	if (value < 0) {
		err_set(err, 0, "%s: expected 0 or more, got %" PRId64, v.path, value);
		return -ERANGE;
	}
	*ret = json_object_get_uint64(v.node);
	return 0;
}

int jget_object(const struct jval *obj, const char *key, int flags, struct jval *ret,
		struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_OBJECT, &v, err);

	if (r == 0 && v.node)
		*ret = v;
	return r;
}

int jget_array(const struct jval *obj, const char *key, int flags, struct jval *ret,
	       struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_ARRAY, &v, err);

	if (r == 0 && v.node)
		*ret = v;
	return r;
}

// ---- addresses ----

typedef int parse_fn(const char *text, void *ret);

static int parse_addr(const char *text, void *ret)
{
	return ipaddr_parse(text, ret);
}

static int parse_prefix(const char *text, void *ret)
{
	return ipprefix_parse(text, ret);
}

static int parse_mac(const char *text, void *ret)
{
	return macaddr_parse(text, ret);
}

static int parse_text(const struct jval *v, parse_fn *parse, void *ret, const char *expected,
		      struct err *err)
{
	if (!v->node)
		return 0;
	return parse(json_object_get_string(v->node), ret) < 0 ? wrong(v, expected, err) : 0;
}

int jget_ipaddr(const struct jval *obj, const char *key, int flags, struct ipaddr *ret,
		struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_STRING, &v, err);

	return r < 0 ? r : parse_text(&v, parse_addr, ret, "an IP address", err);
}

int jget_ipprefix(const struct jval *obj, const char *key, int flags, struct ipprefix *ret,
		  struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_STRING, &v, err);

	return r < 0 ? r : parse_text(&v, parse_prefix, ret, "an IP prefix", err);
}

int jget_mac(const struct jval *obj, const char *key, int flags, struct macaddr *ret,
	     struct err *err)
{
	struct jval v;
	int r = get_typed(obj, key, flags, JTYPE_STRING, &v, err);

	return r < 0 ? r : parse_text(&v, parse_mac, ret, "a MAC address", err);
}

// ---- elements ----

size_t jarray_len(const struct jval *arr)
{
	return jval_type(arr) == JTYPE_ARRAY ? json_object_array_length(arr->node) : 0;
}

struct jval jarray_at(const struct jval *arr, size_t i)
{
	struct jval v = {0};
	char step[32];

	snprintf(step, sizeof(step), "[%zu]", i);
	path_add(&v, arr->path, step);
	if (i < jarray_len(arr))
		v.node = json_object_array_get_idx(arr->node, i);
	return v;
}

int jval_string(const struct jval *v, const char **ret, struct err *err)
{
	if (jval_type(v) != JTYPE_STRING)
		return wrong(v, type_name(JTYPE_STRING), err);
	*ret = json_object_get_string(v->node);
	return 0;
}

int jval_int(const struct jval *v, struct jrange range, int64_t *ret, struct err *err)
{
	if (jval_type(v) != JTYPE_INT)
		return wrong(v, type_name(JTYPE_INT), err);
	// json-c keeps what lies beyond int64 as uint64 and cuts it off in get_int64.
	uint64_t magnitude = json_object_get_uint64(v->node);
	int64_t value = json_object_get_int64(v->node);
	if (magnitude > INT64_MAX || value < range.min || value > range.max) {
		_free_ char *text = jval_text(v);
		err_set(err, 0, "%s: expected %" PRId64 "..%" PRId64 ", got %s", v->path, range.min,
			range.max, text ? text : "?");
		return -ERANGE;
	}
	*ret = value;
	return 0;
}

bool jobject_next(const struct jval *obj, void **iter, const char **ret_key, struct jval *ret_val)
{
	struct lh_entry *e = *iter;

	if (jval_type(obj) != JTYPE_OBJECT)
		return false;
	e = e ? e->next : json_object_get_object(obj->node)->head;
	if (!e)
		return false;
	*iter = e;
	*ret_key = lh_entry_k(e);
	*ret_val = member(obj, *ret_key, (struct json_object *)lh_entry_v(e));
	return true;
}
