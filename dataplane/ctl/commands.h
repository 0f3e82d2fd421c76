// SPDX-License-Identifier: Apache-2.0
// The commands of weftctl, one per cmd_<object>.c; commands.c puts them into the table
// ctl_commands.
#pragma once

#include "ctl.h"

extern const struct command cmd_status_command;
extern const struct command cmd_pod_command;
extern const struct command cmd_port_command;
extern const struct command cmd_drop_command;
extern const struct command cmd_flow_command;
extern const struct command cmd_node_command;
extern const struct command cmd_worker_command;
extern const struct command cmd_version_command;
extern const struct command cmd_uninstall_command;

// True for an object of the documented set that this release does not answer yet.
bool commands_is_later(const char *name);
