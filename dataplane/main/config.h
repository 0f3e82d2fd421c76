// SPDX-License-Identifier: Apache-2.0
// The config file: a YAML mapping of option names (without dashes in front) to values; lists for
// options that may be repeated, true and false for flags. Errors start with FILE:LINE:COLUMN.
#pragma once

#include "main/options.h"

// Reads a file of at most 1 MiB into o. 0 or -errno.
int config_load(const char *path, struct options *o, struct err *err);
