// SPDX-License-Identifier: Apache-2.0
// The guard: a pod speaks only as itself. Checked on entry, before any table is looked at.
//
// Per packet: source MAC, source address (IPv4, IPv6), ARP sender, ND source and options, no tunnel
// packets, no packet to oneself. The host port has no guard (the host is the trusted side), ports
// without addresses let no IP packet through.
//
// guard_check is packet code; guard_set_tunnel_port is called by the control thread at start.
#pragma once

#include <stdint.h>

#include "core/port.h"
#include "packet/drop.h"
#include "packet/pkt.h"

// UDP destination port (host order) whose packets pods may not send. Default 4789 (RFC 7348).
void guard_set_tunnel_port(uint16_t udp_port);
// DROP_NONE, or why the port's owner may not send this parsed packet.
enum drop_reason guard_check(const struct port *port, const struct pkt *p);
