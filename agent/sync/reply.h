// SPDX-License-Identifier: Apache-2.0
// Reading weftd's replies, which are checked like any other input. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/jget.h"

#define REPLY_TEXT_MAX 400

struct reply {
	struct jdoc *doc; // owned
	bool is_ok;
	long code;                 // of an error
	char text[REPLY_TEXT_MAX]; // of an error: "msg: details"
};

// 0, or -EPROTO when the line is no reply.
int reply_parse(const char *line, size_t len, struct reply *ret_reply);
void reply_fini(struct reply *r);
// An integer, a boolean or a text of a good reply, or fallback where it is absent or wrong.
long reply_int(const struct reply *r, const char *key, long fallback);
bool reply_bool(const struct reply *r, const char *key, bool fallback);
const char *reply_string(const struct reply *r, const char *key, const char *fallback);
