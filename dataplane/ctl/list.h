// SPDX-License-Identifier: Apache-2.0
// Objects that are a list of rows: the same options, table and document for all of them.
//
// A row is printed as weftd sent it with -j; the table shows the columns below.
#pragma once

#include "cell.h"
#include "ctl.h"

#define LIST_COLUMNS_MAX 16

struct list_column {
	const char *title, *key;
	enum cell_kind kind;
	bool stats; // only with -s
};

struct list_spec {
	const char *object; // name of the object on the socket
	const char *plural; // key of the document
	const struct list_column *columns;
	size_t column_count; // at most LIST_COLUMNS_MAX
	// Keys that the argument of "list" is compared with, joined by "/"; the last one alone will
	// do.
	const char *const *name_keys; // NULL at the end
	const char *const *addr_keys; // keys that -4 and -6 look at; NULL at the end
};

// True where the row passes -4/-6 and carries the name (NULL: any).
bool list_has(const struct ctl *ctl, const struct list_spec *spec, const struct jval *row,
	      const char *name);
// Runs "[list] [NAME]".
int list_run(const struct ctl *ctl, const struct list_spec *spec, char *const *args,
	     struct err *err);
