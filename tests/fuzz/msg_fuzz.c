// SPDX-License-Identifier: Apache-2.0
// Any JSON as a request of the control socket. What passes the check must keep the check's promises
// to the handlers; what does not must name a reason.
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "api/line.h"
#include "api/msg.h"
#include "base/cleanup.h"

static const struct jlimits limits = {.bytes = API_LINE_MAX, .depth = 16};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum jtype type_of(enum msg_field_type type)
{
	switch (type) {
	case MSG_FIELD_BOOL:
		return JTYPE_BOOL;
	case MSG_FIELD_INT:
		return JTYPE_INT;
	case MSG_FIELD_ARRAY:
		return JTYPE_ARRAY;
	case MSG_FIELD_OBJECT:
		return JTYPE_OBJECT;
	case MSG_FIELD_STRING:
	case MSG_FIELD_ADDR:
	case MSG_FIELD_PREFIX:
	case MSG_FIELD_MAC:
		break;
	}
	return JTYPE_STRING;
}

static void check_field(const struct jval *request, const struct msg_field *f)
{
	struct jval v;
	const char *s;

	assert(jget(request, f->name, JOPTIONAL, &v, NULL) == 0);
	if (jval_is_null(&v)) {
		assert(!f->required);
		return;
	}
	assert(jval_type(&v) == type_of(f->type));
	if (f->type != MSG_FIELD_STRING)
		return;
	assert(jval_string(&v, &s, NULL) == 0 && strlen(s) <= 1024);
	for (; *s != '\0'; s++)
		assert((unsigned char)*s >= 0x20 && *s != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct err err = ERR_INIT;
	enum msg_type type = MSG_COUNT;

	if (jdoc_parse((const char *)data, size, &limits, &doc, &err) < 0)
		return 0;
	struct jval request = jdoc_root(doc);
	int r = msg_check(&request, &type, &err);
	if (r < 0) {
		assert(r == -EINVAL && err.code == 7 && err.text[0] != '\0' && type == MSG_COUNT);
		return 0;
	}
	assert(type < MSG_COUNT);
	for (size_t i = 0; i < msg_table[type].field_count; i++)
		if (!msg_table[type].fields[i].reply)
			check_field(&request, &msg_table[type].fields[i]);
	return 0;
}
