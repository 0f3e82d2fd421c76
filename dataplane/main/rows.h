// SPDX-License-Identifier: Apache-2.0
// Rows of `get`: pod, port, drop, flow, node, worker, status, in pages. Keys are weftctl's. Control
// thread.
#pragma once

#include "base/err.h"
#include "json/jput.h"
#include "main/daemon.h"

#define ROWS_PAGE 500

// Writes "items" and, where more follows, "next". after: the former page's next, 0 at first. 0 or
// -EINVAL.
int rows_get(struct daemon *d, const char *object, uint64_t after, struct jput *reply,
	     struct err *err);
// "items" with every pod, for watch.
void rows_all_pods(struct daemon *d, struct jput *reply);
