// SPDX-License-Identifier: Apache-2.0
// Nodes on the socket: the op of `apply` and the row of `get node`. Control thread.
#pragma once

#include "base/err.h"
#include "features/node/node.h"
#include "json/jput.h"

// Decodes {"name","self","ips","pod_cidrs"} of a set op into a new node of the caller's. Addresses
// must be unicast and ranges without host bits. 0 or -errno.
int node_api_decode(const struct jval *op, struct node **ret_node, struct err *err);
// mtu: of pods, bytes.
void node_api_row(struct jput *j, const struct node *n, uint32_t mtu);
