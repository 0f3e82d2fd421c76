// SPDX-License-Identifier: Apache-2.0
// Reading from weftd: all pages of an object, or a watch.
#pragma once

#include "ctl.h"

// One row, borrowed for the call. Non-zero ends the walk and is passed on.
typedef int fetch_fn(const struct jval *row, void *arg, struct err *err);

// Calls fn for every row of `get object`, page after page. 0, what fn returned, or -errno of
// api/client.h.
int fetch_rows(const struct ctl *ctl, const char *object, fetch_fn *fn, void *arg, struct err *err);

// Calls fn with {event: "added", item: row} for what is there now, then with every line that weftd
// sends, until it goes away (-ECONNRESET) or fn ends the walk.
int fetch_watch(const struct ctl *ctl, const char *object, fetch_fn *fn, void *arg,
		struct err *err);
