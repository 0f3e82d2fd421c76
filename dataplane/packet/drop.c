// SPDX-License-Identifier: Apache-2.0
#include "packet/drop.h"

enum { RX = false, TX = true };

#define DROP(id, text_name, direction, text_help) \
	[DROP_##id] = {.name = text_name, .help = text_help, .is_tx = direction},
const struct drop_info drop_table[DROP_COUNT] = {
	[DROP_NONE] = {.name = "none", .help = "not dropped", .is_tx = false},
#include "packet/drop.def"
};
#undef DROP
