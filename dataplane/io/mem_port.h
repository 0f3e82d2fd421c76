// SPDX-License-Identifier: Apache-2.0
// A port without a link, for in-process packet tests: sent frames are copied into a list.
#pragma once

#include "core/port.h"

struct mem_frame {
	uint32_t len;
	struct vnet_hdr vnet;
	uint8_t data[]; // len bytes
};

// Makes port->ops and port->io. 0 or -ENOMEM.
int mem_port_open(struct port *port);
// Oldest sent frame; the caller frees it. NULL: none.
struct mem_frame *mem_port_take(struct port *port);
// The next n frames are refused (counted tx-queue-full).
void mem_port_refuse(struct port *port, unsigned n);
