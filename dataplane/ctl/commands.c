// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <string.h>

const struct command *const ctl_commands[] = {
	&cmd_status_command,    &cmd_pod_command,
	&cmd_port_command,      &cmd_drop_command,
	&cmd_flow_command,      &cmd_node_command,
	&cmd_worker_command,    &cmd_version_command,
	&cmd_uninstall_command, NULL,
};

bool commands_is_later(const char *name)
{
	static const char *const later[] = {"ct", "svc", "why"};

	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		if (strcmp(later[i], name) == 0)
			return true;
	return false;
}
