// SPDX-License-Identifier: Apache-2.0
// From model objects to the operations of weftd's `apply` message. Pure functions: the same object
// and environment always give the same text, so that the differ can compare texts.
#pragma once

#include "base/compiler.h"
#include "model/object.h"

struct compile_env {
	const char *self; // name of the own node
};

enum compile_result {
	COMPILE_DONE = 0,
	COMPILE_NOTHING = 1, // this kind has no operation of its own
};

// {"op":"set",...} of an object, one compact JSON object, malloc'ed. An enum compile_result or
// -ENOMEM.
int compile_set(const struct object *obj, const struct compile_env *env,
		char **ret_text) MUST_CHECK;
// {"op":"del",...} of the same object; only its kind and names are read.
int compile_del(const struct object *obj, char **ret_text) MUST_CHECK;
