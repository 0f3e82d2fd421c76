// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "list.h"

static const struct list_column columns[] = {
	{"ID", "id", CELL_COUNT, false},
	{"CPU", "cpu", CELL_COUNT, false},
	{"BUSY", "busy", CELL_RATIO, false},
	{"IDLE", "idle", CELL_RATIO, false},
	{"ASLEEP", "asleep", CELL_RATIO, false},
	{"RX", "rx_packets", CELL_COUNT, false},
	{"CYCLES/PKT", "cycles_per_packet", CELL_COUNT, false},
	{"BATCH", "batch", CELL_COUNT, false},
};
static const char *const name_keys[] = {"id", NULL};
static const char *const addr_keys[] = {NULL};
static const struct list_spec spec = {
	.object = "worker",
	.plural = "workers",
	.columns = columns,
	.column_count = ARRAY_LEN(columns),
	.name_keys = name_keys,
	.addr_keys = addr_keys,
};

static int cmd_worker(const struct ctl *ctl, char *const *args, struct err *err)
{
	return list_run(ctl, &spec, args, err);
}

const struct command cmd_worker_command = {
	"worker",
	"[list] [ID]",
	"threads that move packets, and how busy they are",
	cmd_worker,
};
