// SPDX-License-Identifier: Apache-2.0
#include "features/route/route.h"

#include <errno.h>

#include "base/compiler.h"
#include "flow/flow.h"
#include "packet/build.h"

// Destinations that no route may ever cover (RFC 6890, RFC 4291); longest prefix wins as in all of
// table route, and the gateway's own link-local addresses are found before in table endpoint.
struct never_route {
	const char *prefix;
	enum drop_reason reason;
};

static const struct never_route route_never[] = {
	{"0.0.0.0/8", DROP_DST_INVALID},      {"127.0.0.0/8", DROP_DST_INVALID},
	{"169.254.0.0/16", DROP_DST_INVALID}, {"224.0.0.0/4", DROP_MULTICAST},
	{"240.0.0.0/4", DROP_DST_INVALID},    {"255.255.255.255/32", DROP_MULTICAST},
	{"::/127", DROP_DST_INVALID}, // unspecified and loopback
	{"fe80::/10", DROP_DST_INVALID},      {"ff00::/8", DROP_MULTICAST},
};

static int set_drop(const char *text, enum drop_reason reason)
{
	struct ipprefix p;
	struct resolved decision = {.verdict = RESOLVED_DROP, .reason = (uint8_t)reason};
	if (ipprefix_parse(text, &p) < 0)
		return -EINVAL;
	return flow_set_dst(FLOW_TABLE_ROUTE, &p, flow_prefix_priority(&p), &decision, "reserved");
}

int route_init(void)
{
	for (size_t i = 0; i < ARRAY_LEN(route_never); i++) {
		int r = set_drop(route_never[i].prefix, route_never[i].reason);
		if (r < 0)
			return r;
	}
	flow_commit();
	return 0;
}

int route_add_local_range(const struct ipprefix *range, const char *cookie)
{
	struct resolved decision = {
		.verdict = RESOLVED_REJECT,
		.reason = DROP_NO_ENDPOINT,
		.icmp = BUILD_HOST_UNREACHABLE,
	};
	return flow_set_dst(FLOW_TABLE_ROUTE, range, flow_prefix_priority(range), &decision,
			    cookie);
}

void route_del_local_range(const struct ipprefix *range)
{
	(void)flow_del_dst(FLOW_TABLE_ROUTE, range, flow_prefix_priority(range));
}
