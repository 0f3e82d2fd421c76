// SPDX-License-Identifier: Apache-2.0
#include "sync/reply.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "api/line.h"

#define REPLY_DEPTH_MAX 8

static void read_error(const struct jval *root, struct reply *r)
{
	struct jval error = {0};
	const char *msg = "refused", *details = "";
	int64_t code = 0;

	if (jget_object(root, "error", JOPTIONAL, &error, NULL) == 0 && !jval_is_null(&error)) {
		(void)jget_string(&error, "msg", JOPTIONAL, &msg, NULL);
		(void)jget_string(&error, "details", JOPTIONAL, &details, NULL);
		(void)jget_int(&error, "code", JOPTIONAL, (struct jrange){0, INT_MAX}, &code, NULL);
	}
	r->code = (long)code;
	(void)snprintf(r->text, sizeof(r->text), "%s%s%s", msg, *details ? ": " : "", details);
}

int reply_parse(const char *line, size_t len, struct reply *ret_reply)
{
	struct jlimits limits = {.bytes = API_LINE_MAX, .depth = REPLY_DEPTH_MAX};
	struct reply r = {0};
	struct jval root;

	if (jdoc_parse(line, len, &limits, &r.doc, NULL) < 0)
		return -EPROTO;
	root = jdoc_root(r.doc);
	if (jval_type(&root) != JTYPE_OBJECT ||
	    jget_bool(&root, "ok", JREQUIRED, &r.is_ok, NULL) < 0) {
		reply_fini(&r);
		return -EPROTO;
	}
	if (!r.is_ok)
		read_error(&root, &r);
	*ret_reply = r;
	return 0;
}

void reply_fini(struct reply *r)
{
	jdoc_free(r->doc);
	r->doc = NULL;
}

long reply_int(const struct reply *r, const char *key, long fallback)
{
	struct jval root = jdoc_root(r->doc);
	int64_t value = fallback;

	(void)jget_int(&root, key, JOPTIONAL, (struct jrange){LONG_MIN, LONG_MAX}, &value, NULL);
	return (long)value;
}

bool reply_bool(const struct reply *r, const char *key, bool fallback)
{
	struct jval root = jdoc_root(r->doc);

	(void)jget_bool(&root, key, JOPTIONAL, &fallback, NULL);
	return fallback;
}

const char *reply_string(const struct reply *r, const char *key, const char *fallback)
{
	struct jval root = jdoc_root(r->doc);

	(void)jget_string(&root, key, JOPTIONAL, &fallback, NULL);
	return fallback;
}
