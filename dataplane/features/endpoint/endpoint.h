// SPDX-License-Identifier: Apache-2.0
// Local endpoints: which port an address of this node is behind. Control thread.
//
// Writes flows of table endpoint; the caller commits (flow/flow.h).
#pragma once

#include "core/port.h"

// Packets to each of the port's addresses go to the port, with the port's MAC as destination.
// cookie: "pod/NS/NAME" or "attachment/ID". 0 or -errno (nothing is left half done).
int endpoint_add(const struct port *port, const char *cookie);
void endpoint_del(const struct port *port);
// Packets to an address of the node itself go to the host port.
int endpoint_add_host(const struct ipaddr *addr, const struct port *host, const char *cookie);
void endpoint_del_host(const struct ipaddr *addr);
