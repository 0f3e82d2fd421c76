// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "list.h"

static const struct list_column columns[] = {
	{"TABLE", "table", CELL_TEXT, false},      {"PRIO", "priority", CELL_COUNT, false},
	{"MATCH", "match", CELL_TEXT, false},      {"ACTION", "action", CELL_TEXT, false},
	{"PACKETS", "packets", CELL_COUNT, false}, {"COOKIE", "cookie", CELL_TEXT, false},
};
static const char *const name_keys[] = {"table", NULL};
static const char *const addr_keys[] = {NULL};
static const struct list_spec spec = {
	.object = "flow",
	.plural = "flows",
	.columns = columns,
	.column_count = ARRAY_LEN(columns),
	.name_keys = name_keys,
	.addr_keys = addr_keys,
};

static int cmd_flow(const struct ctl *ctl, char *const *args, struct err *err)
{
	return list_run(ctl, &spec, args, err);
}

const struct command cmd_flow_command = {
	"flow",
	"[list] [TABLE]",
	"rows of the flow tables, with the object that made them",
	cmd_flow,
};
