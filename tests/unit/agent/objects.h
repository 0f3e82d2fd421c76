// SPDX-License-Identifier: Apache-2.0
// Makes model objects from JSON text, through the decoder, for tests.
#pragma once

#include "harness/cm.h"

#include <string.h>

#include "base/cleanup.h"
#include "decode/decode.h"

// The object of the text; asserts that it is one.
static inline struct object *object_from(const char *text)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jlimits limits = {.bytes = 1 << 20, .depth = 32};
	struct err err = ERR_INIT;
	struct object *obj = NULL;
	struct jval root;

	if (jdoc_parse(text, strlen(text), &limits, &doc, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	root = jdoc_root(doc);
	if (decode_object(&root, NULL, NULL, &obj, &err) != DECODE_DONE)
		fail_msg("%s: %s", text, err.text);
	return obj;
}
