// SPDX-License-Identifier: Apache-2.0
// From a Kubernetes object in JSON form to the model.
//
//	r = decode_object(&value, NULL, &notes, &obj, err);   one object, as a watch event has it
//	decode_document(&root, &sink);                        an object, or a List of any depth
//
// Everything is checked: types, names, lengths, addresses. What makes an object unusable is an
// error that names the object and the JSON path. What can be left out (one bad address of many)
// becomes a note, and the rest of the object counts. Kinds without a decoder are ignored, not
// refused. Pure functions over borrowed values.
#pragma once

#include "base/err.h"
#include "json/jget.h"
#include "model/object.h"

enum decode_result {
	DECODE_DONE = 0,
	DECODE_IGNORED = 1, // a kind, or a group of the same kind name, that the agent does not use
};

// Receives texts about parts of an object that were left out.
struct decode_notes {
	void (*add)(void *arg, const char *text);
	void *arg;
};

struct decode_sink {
	void (*object)(void *arg, struct object *obj);    // takes the reference
	void (*failed)(void *arg, const struct err *err); // one object was refused
	void (*ignored)(void *arg);                       // one object of another kind
	struct decode_notes notes;
	void *arg;
};

// kind is used where the value has none of its own (items of a typed List); NULL: it must stand in
// the value. A missing apiVersion counts as v1. An enum decode_result with the
// object in *ret_obj for DECODE_DONE, -EINVAL or -ENOMEM.
int decode_object(const struct jval *value, const char *kind, const struct decode_notes *notes,
		  struct object **ret_obj, struct err *err);
// One document: an object, a List, or null (nothing). One bad item does not hide the others.
void decode_document(const struct jval *root, const struct decode_sink *sink);
