// SPDX-License-Identifier: Apache-2.0
// The list of attachments that a runtime still knows, on its way to weftd.
//
// A request is one line of bounded length and the list may be longer than that: then only those
// entries travel that weftd has at all. What is attached meanwhile is alive, and weftd keeps the
// live.
#pragma once

#include "api/client.h"
#include "base/err.h"
#include "json/jget.h"

// valid: array of {containerID, ifname} as runtimes send it, null for an empty one; NULL: no
// information. 0 or -errno with a code set. weftd is away: see daemon_is_away.
int gc_send(struct client *c, const char *network, const struct jval *valid,
	    unsigned long long deadline_ns, struct err *err);
