// SPDX-License-Identifier: Apache-2.0
// Taking a node's set-up away after weftd was stopped: host ends of pods, the private namespace,
// the host port, sockets and journals. Every step may be repeated; what is not weft's stays and is
// named.
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct uninstall_conf {
	const char *run_dir, *state_dir;
	const char *netns;   // name of the private namespace
	const char *host_if; // name of the host port
};

// Hears of each thing that was removed (left = false) or had to stay (left = true).
typedef void uninstall_fn(const char *what, bool left, void *arg);

// -EBUSY where weftd still runs (nothing is touched then), 0, or -errno.
int uninstall_run(const struct uninstall_conf *conf, uninstall_fn *fn, void *arg, struct err *err);
