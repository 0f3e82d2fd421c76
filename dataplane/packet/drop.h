// SPDX-License-Identifier: Apache-2.0
// Drop reasons of packet/drop.def as an enum and a table.
#pragma once

#include <stdbool.h>

#define DROP(id, name, direction, help) DROP_##id,
enum drop_reason {
	DROP_NONE = 0, // not dropped
#include "packet/drop.def"
	DROP_COUNT
};
#undef DROP

struct drop_info {
	const char *name; // lower-case-with-dashes
	const char *help;
	bool is_tx; // counted on the way out
};

// Indexed by enum drop_reason; DROP_NONE is {"none", ...}.
extern const struct drop_info drop_table[DROP_COUNT];
