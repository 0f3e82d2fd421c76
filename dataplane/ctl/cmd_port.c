// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "list.h"

static const struct list_column columns[] = {
	{"ID", "id", CELL_COUNT, false},
	{"KIND", "kind", CELL_TEXT, false},
	{"NAME", "name", CELL_TEXT, false},
	{"POD", "pod", CELL_TEXT, false},
	{"LANE", "lane", CELL_TEXT, false},
	{"RX", "rx_packets", CELL_COUNT, false},
	{"TX", "tx_packets", CELL_COUNT, false},
	{"RX-DROPS", "rx_drops", CELL_COUNT, false},
	{"TX-DROPS", "tx_drops", CELL_COUNT, false},
};
static const char *const name_keys[] = {"name", NULL};
static const char *const addr_keys[] = {NULL};
static const struct list_spec spec = {
	.object = "port",
	.plural = "ports",
	.columns = columns,
	.column_count = ARRAY_LEN(columns),
	.name_keys = name_keys,
	.addr_keys = addr_keys,
};

static int cmd_port(const struct ctl *ctl, char *const *args, struct err *err)
{
	return list_run(ctl, &spec, args, err);
}

const struct command cmd_port_command = {
	"port",
	"[list] [NAME]",
	"ports of weftd: pods, host, uplink",
	cmd_port,
};
