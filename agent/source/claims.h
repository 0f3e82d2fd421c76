// SPDX-License-Identifier: Apache-2.0
// Which file an object comes from, when several files may hold the same one.
//
//	claims_begin(c, path);
//	claims_add(c, obj); ...            the objects the file holds now
//	claims_end(c, keep_rest);          what the file no longer holds is given up
//	claims_drop(c, path);              the file is gone
//
// The file that was read last wins; when it gives the object up, the one before wins again. The
// sink sees only winners: set for a new winner, del when the last claim ends. An object in several
// files is a problem of its own, with the scope of the object's key, that names two of the files.
// Every step is a hash look-up plus a walk over the files that hold the same object. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "source/source.h"

struct claims;

enum claims_result {
	CLAIMS_ADDED = 0,
	CLAIMS_TWICE = 1, // the same file held it already in this round; the later one counts
};

// sink is borrowed.
struct claims *claims_new(const struct source_sink *sink);
void claims_free(struct claims *c);
// Starts a round of one file. 0 or -ENOMEM.
int claims_begin(struct claims *c, const char *path) MUST_CHECK;
// Takes a reference of its own. An enum claims_result, or -ENOMEM.
int claims_add(struct claims *c, struct object *obj) MUST_CHECK;
// Ends the round. keep_rest: objects of an earlier round stay, because the file could not be
// understood completely.
void claims_end(struct claims *c, bool keep_rest);
void claims_drop(struct claims *c, const char *path);
// Objects that at least one file holds.
size_t claims_len(const struct claims *c);
