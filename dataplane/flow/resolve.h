// SPDX-License-Identifier: Apache-2.0
// The miss path: runs the tables in order and writes the decision for one packet.
//
// Order: endpoint (exact address), then route (prefix). Read-only on the tables, so that the same
// code can explain a packet without forwarding it. Worker thread, or any registered reader.
#pragma once

#include "flow/flow.h"
#include "flow/resolved.h"

// Always fills *ret; what no table knows is a REJECT with no-route.
void resolve_key(const struct flow_key *key, struct resolved *ret);
