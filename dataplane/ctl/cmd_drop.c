// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "list.h"

static const struct list_column columns[] = {
	{"REASON", "reason", CELL_TEXT, false}, {"PORT", "port", CELL_TEXT, false},
	{"POD", "pod", CELL_TEXT, false},
	{"DIR", "direction", CELL_TEXT, false}, {"PACKETS", "packets", CELL_COUNT, false},
	{"MEANING", "help", CELL_TEXT, true},
};
static const char *const name_keys[] = {"port", "reason", NULL};
static const char *const addr_keys[] = {NULL};
static const struct list_spec spec = {
	.object = "drop",
	.plural = "drops",
	.columns = columns,
	.column_count = ARRAY_LEN(columns),
	.name_keys = name_keys,
	.addr_keys = addr_keys,
};

static int cmd_drop(const struct ctl *ctl, char *const *args, struct err *err)
{
	return list_run(ctl, &spec, args, err);
}

const struct command cmd_drop_command = {
	"drop",
	"[list] [REASON]",
	"dropped packets by reason and port; -s: what each means",
	cmd_drop,
};
