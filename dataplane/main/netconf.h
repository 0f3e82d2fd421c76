// SPDX-License-Identifier: Apache-2.0
// Brings in force what options and the own node say: pod ranges, node addresses, MTU. Options win;
// without either, ranges are those of the journal and addresses those of the node's interfaces.
#pragma once

#include "main/daemon.h"

// MTU of pods before anything is known: an Ethernet's less what the tunnel adds.
#define NETCONF_MTU_DEFAULT 1450
#define NETCONF_OVERHEAD_V4 50
#define NETCONF_OVERHEAD_V6 70

// Opens the host port. 0 or -errno.
int netconf_open_host_port(struct daemon *d, struct err *err);
// Compares with what is in force and changes the rest. Failures are logged and stand in
// net.problem.
void netconf_update(struct daemon *d);
