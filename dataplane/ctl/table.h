// SPDX-License-Identifier: Apache-2.0
// Text in aligned columns.
//
//	_cleanup_(table_freep) struct table *t = table_new(columns, count);
//	table_add(t, "name");            cells row by row, from left to right
//	r = table_print(t, stdout, err);
//
// Lines are never wrapped. Control characters in a cell are shown as '?', so that a name cannot
// move the cursor. Memory shortage is remembered and makes table_print fail. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct table;

struct table_column {
	const char *title;
	bool right; // numbers stand at the right edge
};

// Keeps columns, which must live as long as the table. NULL when memory is short.
struct table *table_new(const struct table_column *columns, size_t count);
void table_free(struct table *t);
void table_freep(struct table **t);
// Copies text; empty text is shown as "-". t may be NULL (after a failed table_new).
void table_add(struct table *t, const char *text);
// Head line and rows; an incomplete last row is left out. 0, -ENOMEM or -EIO.
int table_print(const struct table *t, FILE *out, struct err *err);
