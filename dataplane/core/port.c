// SPDX-License-Identifier: Apache-2.0
#include "core/port.h"

#include <errno.h>
#include <stdlib.h>

// Locally administered; "weft" in ASCII after the first byte.
const struct macaddr gateway_mac = {{0x02, 'w', 'e', 'f', 't', 0x01}};

// Written by the control thread with release, read by workers with acquire.
static struct port *_Atomic port_table[PORT_MAX];
static _Atomic uint16_t port_top;

int port_publish(struct port *port)
{
	if (port->id == 0 || port->id >= PORT_MAX)
		return -ERANGE;
	if (atomic_load_explicit(&port_table[port->id], memory_order_relaxed))
		return -EEXIST;
	if (port->id >= atomic_load_explicit(&port_top, memory_order_relaxed))
		atomic_store_explicit(&port_top, (uint16_t)(port->id + 1), memory_order_relaxed);
	atomic_store_explicit(&port_table[port->id], port, memory_order_release);
	return 0;
}

struct port *port_unpublish(uint16_t id)
{
	if (id >= PORT_MAX)
		return NULL;
	return atomic_exchange_explicit(&port_table[id], NULL, memory_order_acq_rel);
}

void port_free(struct port *port)
{
	if (!port)
		return;
	if (port->ops && port->ops->close)
		port->ops->close(port);
	free(port);
}

struct port *port_get(uint16_t id)
{
	if (id >= PORT_MAX)
		return NULL;
	return atomic_load_explicit(&port_table[id], memory_order_acquire);
}

uint16_t port_limit(void)
{
	return atomic_load_explicit(&port_top, memory_order_relaxed);
}
