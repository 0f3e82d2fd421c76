// SPDX-License-Identifier: Apache-2.0
// Building JSON documents. The only user of json-c's writer.
//
//	_cleanup_(jput_freep) struct jput *j = jput_new();
//	jput_object(j, NULL);
//	jput_string(j, "name", name);
//	jput_array(j, "ips");
//	jput_string(j, NULL, "10.0.0.1");
//	jput_end(j);
//	jput_end(j);
//	_free_ char *line = jput_take(j);
//
// key is NULL inside an array and for the root. Memory shortage or wrong nesting is remembered and
// makes jput_take return NULL: no need to check each call. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/ipaddr.h"
#include "json/jget.h"

struct jput;

// An empty document. NULL when memory is short, which every function here accepts.
struct jput *jput_new(void);
// Frees the writer and what was not taken. NULL is nothing.
void jput_free(struct jput *j);
// For _cleanup_: frees and sets to NULL.
void jput_freep(struct jput **j);

// Opens an object, an array: what follows goes into it until jput_end. At most 32 deep.
void jput_object(struct jput *j, const char *key);
void jput_array(struct jput *j, const char *key);
void jput_end(struct jput *j); // closes the innermost object or array
// One value each. A string that is not UTF-8 gets U+FFFD for each bad byte.
void jput_string(struct jput *j, const char *key, const char *value); // NULL value = null
void jput_int(struct jput *j, const char *key, int64_t value);
void jput_u64(struct jput *j, const char *key, uint64_t value);
// Printed with 6 significant digits; null where it is not finite.
void jput_double(struct jput *j, const char *key, double value);
void jput_bool(struct jput *j, const char *key, bool value);
void jput_null(struct jput *j, const char *key);
void jput_ipaddr(struct jput *j, const char *key, const struct ipaddr *a);
void jput_ipprefix(struct jput *j, const char *key, const struct ipprefix *p);
void jput_mac(struct jput *j, const char *key, const struct macaddr *m);
// Deep copy of a value of a parsed document.
void jput_value(struct jput *j, const char *key, const struct jval *v);
// Compact text on one line without a newline; malloc'ed, taken by the caller. NULL after any
// failure.
char *jput_take(struct jput *j);
// The built document as a readable one (moves the tree; the writer is empty afterwards). NULL after
// any failure.
struct jdoc *jput_take_doc(struct jput *j);
