// SPDX-License-Identifier: Apache-2.0
#include "flow/resolve.h"

#include "packet/build.h"

static const struct resolved resolve_no_route = {
	.verdict = RESOLVED_REJECT,
	.reason = DROP_NO_ROUTE,
	.icmp = BUILD_NET_UNREACHABLE,
};

void resolve_key(const struct flow_key *key, struct resolved *ret)
{
	for (int t = 0; t < FLOW_TABLE_COUNT; t++) {
		struct flow *f = flow_lookup((enum flow_table)t, key);
		if (!f)
			continue;
		*ret = f->decision;
		ret->flows[0] = f;
		ret->flow_count = 1;
		return;
	}
	*ret = resolve_no_route;
}
