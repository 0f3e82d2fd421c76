// SPDX-License-Identifier: Apache-2.0
// The message table of messages.def as data, and the check every request passes before its handler.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "json/jget.h"

#define API_VERSION 1 // protocol version; the daemon also accepts API_VERSION - 1 where that is > 0

#define MSG_BEGIN(id, name, quota, help) MSG_##id,
#define REQ(name, type, need, help)
#define REP(name, type, help)
#define MSG_END(id)
enum msg_type {
#include "api/messages.def"
	MSG_COUNT
};
#undef MSG_BEGIN
#undef REQ
#undef REP
#undef MSG_END

enum msg_field_type {
	MSG_FIELD_STRING,
	MSG_FIELD_BOOL,
	MSG_FIELD_INT,
	MSG_FIELD_ARRAY,
	MSG_FIELD_OBJECT,
	MSG_FIELD_ADDR,
	MSG_FIELD_PREFIX,
	MSG_FIELD_MAC,
};

struct msg_field {
	const char *name, *help;
	enum msg_field_type type;
	bool required, reply;
};

struct msg_desc {
	const char *name, *help;
	bool cheap;
	const struct msg_field *fields;
	size_t field_count;
};

extern const struct msg_desc msg_table[MSG_COUNT];

// Finds the type of a request and checks each listed field: presence, type, text form, and strings
// of at most 1024 bytes without control characters. 0 or -EINVAL with the field's path and code 7.
int msg_check(const struct jval *request, enum msg_type *ret_type, struct err *err);
