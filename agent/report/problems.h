// SPDX-License-Identifier: Apache-2.0
// All problems the agent knows, by scope (a file, an object, a service of the node), for weftd's
// status and the log. A scope's list is replaced as a whole; an empty one means mended. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "json/jput.h"
#include "model/problem.h"

// Entries of a report; one more has the number of the rest. Keeps the list below 64 KiB.
#define PROBLEMS_REPORT_MAX 30

struct problems;

// Empty; NULL when memory is short.
struct problems *problems_new(void);
// NULL is nothing.
void problems_free(struct problems *p);
// Copies the list. True when that changed anything; short memory loses the list and is no change.
bool problems_set(struct problems *p, const char *scope, const struct problem_list *list);
// The same for a scope with one problem; what NULL = mended.
bool problems_set_one(struct problems *p, const char *scope, const char *what, const char *hint);
// Mends every scope that starts with prefix. True when there was one.
bool problems_clear_prefix(struct problems *p, const char *prefix);
// All of them, also those no list had room for.
size_t problems_len(const struct problems *p);
// Writes the member "problems": [{what, hint}, ...].
void problems_put(struct problems *p, struct jput *j);
