// SPDX-License-Identifier: Apache-2.0
// Opening and closing of ports with all that hangs on them: sockets, the port table, receive,
// endpoint flows.
//
// An id is free again when the workers can no longer see the port that had it (core/rcu.h). Control
// thread.
#pragma once

#include "base/err.h"
#include "core/port.h"
#include "io/rx.h"

struct ports;

struct ports_conf {
	int netns_fd; // private namespace, borrowed
	unsigned workers;
	struct rx_group *rx; // borrowed
};

// NULL when memory is short.
struct ports *ports_new(const struct ports_conf *conf);
// Closes what is open. Workers have stopped.
void ports_free(struct ports *p);
// Opens port->id on port->ifindex (port->worker is chosen here) and, for pods, adds its endpoint
// flows with the cookie; the caller commits. Takes the port on success. 0 or -errno.
int ports_open(struct ports *p, struct port *port, const char *cookie, struct err *err);
// Takes a port away at once: its flows (committed here), its receive, itself after a grace period.
void ports_close(struct ports *p, uint16_t id);
// Opens a port of the same id anew with another MAC or MTU; packets of the moment between are lost.
int ports_change(struct ports *p, uint16_t id, const struct macaddr *mac, uint32_t mtu,
		 struct err *err);
bool ports_is_free(const struct ports *p, uint16_t id);
// Number of open ports.
unsigned ports_count(const struct ports *p);
