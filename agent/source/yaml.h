// SPDX-License-Identifier: Apache-2.0
// YAML and JSON text to JSON documents, one call per document. The only user of libyaml.
//
//	r = yaml_load(text, len, on_document, arg, err);
//
// Errors read "LINE:COLUMN: reason", both counted from 1. Text that starts with '{' is tried as
// JSON first. Quoted scalars are strings, plain ones follow source/scalar.h. Anchors and aliases
// work within the limits below; merge keys (<<), tags beyond the core schema, keys that are no
// scalars and duplicate keys are refused (in JSON the last one of a key wins). Empty documents are
// skipped.
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "json/jget.h"

#define YAML_BYTES_MAX (4u << 20)    // of text
#define YAML_DEPTH_MAX 32            // nesting, counted after aliases are put in
#define YAML_NODES_MAX 400000u       // per document, counted after aliases are put in
#define YAML_EXPANDED_MAX (8u << 20) // bytes of scalars per document, counted likewise

// Where a document starts, counted from 1.
struct yaml_place {
	size_t line, column;
};

// Called for each document in order. A negative result ends the load and is returned.
typedef int (*yaml_doc_fn)(void *arg, const struct jval *root, struct yaml_place at,
			   struct err *err);

// 0, -EINVAL (refused text), -ENOMEM, or what fn returned. Documents before a bad place were
// already handed to fn: stage them until the load succeeded.
int yaml_load(const char *text, size_t len, yaml_doc_fn fn, void *arg, struct err *err);
