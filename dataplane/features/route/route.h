// SPDX-License-Identifier: Apache-2.0
// Prefix routes of table route. Control thread; the caller commits (flow/flow.h).
#pragma once

#include "base/ipaddr.h"

// Installs the prefixes that are never forwarded: multicast, broadcast, loopback, link-local,
// reserved. Once, after flow_init. 0 or -errno.
int route_init(void);

// A pod range of this node: an address in it that no endpoint has is rejected as no-endpoint.
int route_add_local_range(const struct ipprefix *range, const char *cookie);
void route_del_local_range(const struct ipprefix *range);
