// SPDX-License-Identifier: Apache-2.0
// The capabilities portMappings and bandwidth of runtimeConfig: checked here, so that a bad
// request fails at ADD with code 7 and not in the dataplane later. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "json/jget.h"

struct caps {
	size_t port_mappings; // how many were asked for
	bool bandwidth;       // a limit was asked for
};

// runtime_config is an object. 0 or -errno; err names the member that is wrong.
int caps_read(const struct jval *runtime_config, struct caps *ret_caps, struct err *err);
