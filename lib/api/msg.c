// SPDX-License-Identifier: Apache-2.0
#include "api/msg.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"

#define CODE_INVALID 7  // CNI: invalid configuration
#define STRING_MAX 1024 // bytes

// clang-format off
// First pass over the list: one field array per message.
#define MSG_BEGIN(id, name_, quota_, help_) static const struct msg_field fields_##id[] = {
#define MSG_NEED_REQUIRED true
#define MSG_NEED_OPTIONAL false
#define REQ(name_, type_, need_, help_)                                                            \
	{.name = (name_), .help = (help_), .type = MSG_FIELD_##type_,                              \
	 .required = MSG_NEED_##need_},
#define REP(name_, type_, help_)                                                                   \
	{.name = (name_), .help = (help_), .type = MSG_FIELD_##type_, .reply = true},
#define MSG_END(id) };
#include "api/messages.def"
#undef MSG_BEGIN
#undef REQ
#undef REP
#undef MSG_END

// Second pass: the table.
#define MSG_QUOTA_CHEAP true
#define MSG_QUOTA_CALL false
#define MSG_BEGIN(id, name_, quota_, help_)                                                        \
	[MSG_##id] = {.name = (name_), .help = (help_), .cheap = MSG_QUOTA_##quota_,               \
		      .fields = fields_##id, .field_count = ARRAY_LEN(fields_##id)},
#define REQ(name_, type_, need_, help_)
#define REP(name_, type_, help_)
#define MSG_END(id)
const struct msg_desc msg_table[MSG_COUNT] = {
#include "api/messages.def"
};
// clang-format on

static int check_string(const struct jval *obj, const struct msg_field *f, struct err *err)
{
	const char *text = NULL;
	int r = jget_string(obj, f->name, f->required ? JREQUIRED : JOPTIONAL, &text, err);

	if (r < 0 || !text)
		return r;
	if (strlen(text) > STRING_MAX)
		return err_set(err, 0, "%s.%s: longer than %d bytes", obj->path, f->name,
			       STRING_MAX);
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return err_set(err, 0, "%s.%s: control character", obj->path, f->name);
	return 0;
}

static int check_field(const struct jval *obj, const struct msg_field *f, struct err *err)
{
	static const struct jrange any = {INT64_MIN, INT64_MAX};
	int flags = f->required ? JREQUIRED : JOPTIONAL;
	union {
		bool b;
		int64_t i;
		struct jval v;
		struct ipaddr addr;
		struct ipprefix prefix;
		struct macaddr mac;
	} to;

	switch (f->type) {
	case MSG_FIELD_STRING:
		return check_string(obj, f, err);
	case MSG_FIELD_BOOL:
		return jget_bool(obj, f->name, flags, &to.b, err);
	case MSG_FIELD_INT:
		return jget_int(obj, f->name, flags, any, &to.i, err);
	case MSG_FIELD_ARRAY:
		return jget_array(obj, f->name, flags, &to.v, err);
	case MSG_FIELD_OBJECT:
		return jget_object(obj, f->name, flags, &to.v, err);
	case MSG_FIELD_ADDR:
		return jget_ipaddr(obj, f->name, flags, &to.addr, err);
	case MSG_FIELD_PREFIX:
		return jget_ipprefix(obj, f->name, flags, &to.prefix, err);
	case MSG_FIELD_MAC:
		return jget_mac(obj, f->name, flags, &to.mac, err);
	}
	return err_set(err, 0, "%s.%s: unknown type of field", obj->path, f->name);
}

static int find_type(const struct jval *request, enum msg_type *ret_type, struct err *err)
{
	static const struct msg_field type = {.name = "type", .required = true};
	const char *name;

	int r = check_string(request, &type, err);
	if (r == 0)
		r = jget_string(request, "type", JREQUIRED, &name, err);
	if (r < 0)
		return r;
	for (int i = 0; i < MSG_COUNT; i++) {
		if (strcmp(msg_table[i].name, name) == 0) {
			*ret_type = (enum msg_type)i;
			return 0;
		}
	}
	return err_set(err, 0, "%s.type: unknown message `%s`", request->path, name);
}

static int check(const struct jval *request, enum msg_type *ret_type, struct err *err)
{
	static const struct msg_field id = {.name = "id", .type = MSG_FIELD_INT};
	int r = find_type(request, ret_type, err);

	if (r == 0)
		r = check_field(request, &id, err);
	if (r < 0)
		return r;
	const struct msg_desc *d = &msg_table[*ret_type];
	for (size_t i = 0; i < d->field_count && r == 0; i++)
		if (!d->fields[i].reply)
			r = check_field(request, &d->fields[i], err);
	return r;
}

int msg_check(const struct jval *request, enum msg_type *ret_type, struct err *err)
{
	enum msg_type type = MSG_COUNT;
	int r = check(request, &type, err);

	if (r == 0) {
		*ret_type = type;
		return 0;
	}
	if (err)
		err->code = CODE_INVALID;
	return -EINVAL;
}
