// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "list.h"

static const struct list_column columns[] = {
	{"NAME", "name", CELL_TEXT, false},
	{"ADDRESS", "node_ip", CELL_ADDRS, false},
	{"POD-CIDRS", "pod_cidrs", CELL_ADDRS, false},
	{"ROUTE", "route", CELL_TEXT, false},
	{"MTU", "mtu", CELL_COUNT, false},
};
static const char *const name_keys[] = {"name", NULL};
static const char *const addr_keys[] = {"node_ip", "pod_cidrs", NULL};
static const struct list_spec spec = {
	.object = "node",
	.plural = "nodes",
	.columns = columns,
	.column_count = ARRAY_LEN(columns),
	.name_keys = name_keys,
	.addr_keys = addr_keys,
};

static int cmd_node(const struct ctl *ctl, char *const *args, struct err *err)
{
	return list_run(ctl, &spec, args, err);
}

const struct command cmd_node_command = {
	"node",
	"[list] [NAME]",
	"nodes of the cluster and the way to their pods",
	cmd_node,
};
