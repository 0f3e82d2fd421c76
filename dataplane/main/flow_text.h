// SPDX-License-Identifier: Apache-2.0
// Flows as a person reads them. Pure functions.
#pragma once

#include "flow/flow.h"

#define FLOW_TEXT_MAX 256

// "src=10.0.0.0/8 dst=10.1.2.3/32 proto=6", "any" where nothing is matched. Both return out.
const char *flow_text_match(const struct classifier_rule *rule, char out[FLOW_TEXT_MAX]);
// "forward port=3 mac=0a:77:... mtu=1450", "reject no-endpoint", "drop no-route", "local".
const char *flow_text_action(const struct resolved *decision, char out[FLOW_TEXT_MAX]);
