// SPDX-License-Identifier: Apache-2.0
// The gateway that every pod has as its only neighbour: answers ARP, neighbour solicitations and
// echo requests for its addresses, and sends ICMP errors, rate limited per port.
//
// The address table is written by the control thread and read by workers (an immutable copy swapped
// under core/rcu.h).
#pragma once

#include "base/ipaddr.h"
#include "features/gateway/gateway_fast.h"

// Link-local gateway addresses that every pod has in its routes: 169.254.1.1 and fe80::1.
void gateway_link_local(bool v4, struct ipaddr *ret);
// Replaces the set of further addresses (first address of each pod range); endpoint flows for them
// are set and removed too. 0 or -errno. Control thread; commits.
int gateway_set_addrs(const struct ipaddr *addrs, unsigned count);
