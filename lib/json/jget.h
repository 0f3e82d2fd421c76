// SPDX-License-Identifier: Apache-2.0
// Typed, bounded reading of JSON. The only user of json-c's parser.
//
// A `struct jval` is a borrowed view into a document, with the path that leads to it, so that every
// error names its place: `$.plugins[2].mtu: expected an integer, got "x"`.
//
//	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
//	r = jdoc_parse(text, len, &limits, &doc, err);
//	struct jval root = jdoc_root(doc);
//	r = jget_string(&root, "name", JREQUIRED, &name, err);
//
// Getters: absent or null with JOPTIONAL leaves *ret alone and returns 0; with JREQUIRED it is an
// error. A wrong type is always an error (-EINVAL), never converted. Strings are borrowed from the
// document, valid UTF-8, and contain no NUL. Numbers are exact: a fraction or a value out of range
// is an error. JNOCASE added to the flags matches the key without regard to case (Go clients of
// CNI). One thread at a time per document.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/ipaddr.h"

struct jdoc;

#define JPATH_MAX 160 // bytes of path kept for errors; longer paths are cut on the left

struct jval {
	void *node;           // json-c object, NULL = JSON null or absent
	char path[JPATH_MAX]; // "$", "$.a[3].b"
};

struct jlimits {
	size_t bytes;   // longest text
	unsigned depth; // deepest nesting, at most 32
};

enum jflags { JOPTIONAL = 0, JREQUIRED = 1, JNOCASE = 2 };
enum jtype {
	JTYPE_NULL,
	JTYPE_BOOL,
	JTYPE_INT,
	JTYPE_DOUBLE,
	JTYPE_STRING,
	JTYPE_ARRAY,
	JTYPE_OBJECT,
};

// Parses exactly one document (white space may follow). Refused with -EINVAL: empty text, trailing
// garbage, a BOM, invalid UTF-8, NUL bytes, "\u0000", nesting beyond depth, text beyond bytes,
// and what RFC 8259 does not know (comments, NaN, raw control characters, integers beyond 64
// bits...). Duplicate keys: the last one wins.
int jdoc_parse(const char *text, size_t len, const struct jlimits *limits, struct jdoc **ret_doc,
	       struct err *err);
// Frees the document; every jval and string of it is invalid afterwards. NULL is nothing.
void jdoc_free(struct jdoc *doc);
void jdoc_freep(struct jdoc **doc);
// The document itself, path "$".
struct jval jdoc_root(const struct jdoc *doc);

// Type of a value; JTYPE_NULL for absent, too. JTYPE_DOUBLE: written with fraction or exponent.
enum jtype jval_type(const struct jval *v);
bool jval_is_null(const struct jval *v); // null or absent
// Compact text of the value, malloc'ed by the call ("null" for absent). NULL when memory is short.
char *jval_text(const struct jval *v);

// Member of an object. *ret is absent (jval_is_null) where there is none.
int jget(const struct jval *obj, const char *key, int flags, struct jval *ret, struct err *err);
// True where the key stands in the object, even with value null.
bool jget_has(const struct jval *obj, const char *key, int flags);
// Typed members; see the flags above.
int jget_string(const struct jval *obj, const char *key, int flags, const char **ret,
		struct err *err);
int jget_bool(const struct jval *obj, const char *key, int flags, bool *ret, struct err *err);
// Inclusive range; outside is -ERANGE with the range in the text.
struct jrange {
	int64_t min, max;
};
int jget_int(const struct jval *obj, const char *key, int flags, struct jrange range, int64_t *ret,
	     struct err *err);
int jget_u64(const struct jval *obj, const char *key, int flags, uint64_t *ret, struct err *err);
int jget_object(const struct jval *obj, const char *key, int flags, struct jval *ret,
		struct err *err);
int jget_array(const struct jval *obj, const char *key, int flags, struct jval *ret,
	       struct err *err);
int jget_ipaddr(const struct jval *obj, const char *key, int flags, struct ipaddr *ret,
		struct err *err);
int jget_ipprefix(const struct jval *obj, const char *key, int flags, struct ipprefix *ret,
		  struct err *err);
int jget_mac(const struct jval *obj, const char *key, int flags, struct macaddr *ret,
	     struct err *err);

// Elements: length of an array (0 when absent) and the i-th value; values read as themselves.
size_t jarray_len(const struct jval *arr);
struct jval jarray_at(const struct jval *arr, size_t i);
int jval_string(const struct jval *v, const char **ret, struct err *err);
int jval_int(const struct jval *v, struct jrange range, int64_t *ret, struct err *err);

// Walks the members of an object in document order; start with *iter = NULL.
//	for (void *it = NULL; jobject_next(&obj, &it, &key, &val);)
bool jobject_next(const struct jval *obj, void **iter, const char **ret_key, struct jval *ret_val);
