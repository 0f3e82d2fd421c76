// SPDX-License-Identifier: Apache-2.0
#include "decode/decode.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/kinds.h"

struct decoder {
	const char *kind;
	enum object_kind object_kind;
	int (*fill)(const struct jval *value, struct object *obj, const struct decode_notes *notes,
		    struct err *err);
};

// All of the core group, version v1.
static const struct decoder decoders[] = {
	{"Node", OBJECT_NODE, decode_node},
	{"Namespace", OBJECT_NAMESPACE, decode_namespace},
	{"Pod", OBJECT_POD, decode_pod},
};

void decode_note(const struct decode_notes *notes, const struct object *obj, const char *fmt, ...)
{
	char text[512], tail[320];
	const char *ns = obj->meta.namespace;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(tail, sizeof(tail), fmt, ap);
	va_end(ap);
	(void)snprintf(text, sizeof(text), "%s %s%s%s: %s", object_kind_name(obj->kind), ns,
		       *ns ? "/" : "", obj->meta.name, tail);
	if (notes)
		notes->add(notes->arg, text);
}

void decode_address(const struct jval *text, struct object *obj, struct object_ips *ips,
		    const struct decode_notes *notes)
{
	struct err err = ERR_INIT;
	struct ipaddr addr;
	const char *ip = NULL;

	if (jval_string(text, &ip, &err) < 0)
		decode_note(notes, obj, "%s", err.text);
	else if (!*ip)
		return;
	else if (ipaddr_parse(ip, &addr) < 0 || !ipaddr_is_unicast(&addr))
		decode_note(notes, obj, "%s: `%.64s` is no usable address", text->path, ip);
	else if (!object_ips_add(ips, &addr) && ips->count == OBJECT_IPS_MAX)
		decode_note(notes, obj, "%s: more than %d addresses", text->path, OBJECT_IPS_MAX);
}

static const struct decoder *find_decoder(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(decoders); i++)
		if (!strcmp(decoders[i].kind, kind))
			return &decoders[i];
	return NULL;
}

// Puts the object's name in front of an error, as far as it can be known.
static int name_error(const struct jval *value, const char *kind, int r, struct err *err)
{
	struct jval meta = {0};
	const char *name = NULL, *ns = NULL;

	if (jget_object(value, "metadata", JOPTIONAL, &meta, NULL) < 0 || jval_is_null(&meta) ||
	    jget_string(&meta, "name", JOPTIONAL, &name, NULL) < 0 || !name)
		return err_wrap(err, r, "%s", kind);
	(void)jget_string(&meta, "namespace", JOPTIONAL, &ns, NULL);
	return err_wrap(err, r, "%s %.64s%s%.256s", kind, ns ? ns : "", ns ? "/" : "", name);
}

static int fill_object(const struct jval *value, const struct decoder *d,
		       const struct decode_notes *notes, struct object **ret_obj, struct err *err)
{
	_cleanup_(object_unrefp) struct object *obj = object_new(d->object_kind);
	int r;

	if (!obj)
		return err_set(err, ENOMEM, "%s", d->kind);
	r = decode_meta(value, obj, err);
	if (r == 0)
		r = d->fill(value, obj, notes, err);
	if (r < 0)
		return name_error(value, d->kind, r, err);
	*ret_obj = TAKE_PTR(obj);
	return DECODE_DONE;
}

int decode_object(const struct jval *value, const char *kind, const struct decode_notes *notes,
		  struct object **ret_obj, struct err *err)
{
	const struct decoder *d;
	const char *version = "v1";
	int r;

	if (jval_type(value) != JTYPE_OBJECT)
		return err_set(err, 0, "%s: expected a Kubernetes object", value->path);
	r = jget_string(value, "kind", kind ? JOPTIONAL : JREQUIRED, &kind, err);
	if (r < 0)
		return r;
	r = jget_string(value, "apiVersion", JOPTIONAL, &version, err);
	if (r < 0)
		return r;
	d = find_decoder(kind);
	if (!d || strcmp(version, "v1") != 0)
		return DECODE_IGNORED;
	return fill_object(value, d, notes, ret_obj, err);
}

// "PodList" -> "Pod"; "" for a plain List. False when kind is no list.
static bool item_kind(const char *kind, char *out, size_t size)
{
	size_t len = strlen(kind), tail = strlen("List");

	if (len < tail || strcmp(kind + len - tail, "List") != 0 || len - tail >= size)
		return false;
	memcpy(out, kind, len - tail);
	out[len - tail] = '\0';
	return true;
}

static void decode_value(const struct jval *value, const char *kind,
			 const struct decode_sink *sink);

static void decode_items(const struct jval *value, const char *kind, const struct decode_sink *sink)
{
	struct err err = ERR_INIT;
	struct jval items = {0};

	if (jget_array(value, "items", JOPTIONAL, &items, &err) < 0) {
		sink->failed(sink->arg, &err);
		return;
	}
	for (size_t i = 0; i < jarray_len(&items); i++) {
		struct jval item = jarray_at(&items, i);

		decode_value(&item, kind, sink);
	}
}

// Recursion is bounded by the depth limit of the parser.
static void decode_value(const struct jval *value, const char *kind, const struct decode_sink *sink)
{
	struct err err = ERR_INIT;
	struct object *obj = NULL;
	char item[64];
	const char *own = kind;
	int r = 0;

	if (jval_type(value) == JTYPE_OBJECT)
		r = jget_string(value, "kind", JOPTIONAL, &own, &err);
	if (r == 0 && own && jget_has(value, "items", 0) && item_kind(own, item, sizeof(item))) {
		decode_items(value, *item ? item : NULL, sink);
		return;
	}
	if (r == 0)
		r = decode_object(value, kind, &sink->notes, &obj, &err);
	if (r < 0)
		sink->failed(sink->arg, &err);
	else if (r == DECODE_IGNORED)
		sink->ignored(sink->arg);
	else
		sink->object(sink->arg, obj);
}

void decode_document(const struct jval *root, const struct decode_sink *sink)
{
	if (!jval_is_null(root))
		decode_value(root, NULL, sink);
}
