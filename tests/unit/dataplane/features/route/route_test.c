// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include "features/route/route.h"
#include "flow/flow.h"
#include "flow/resolve.h"

static enum drop_reason reason_to(const char *dst)
{
	struct flow_key key = {.proto = 6};
	struct resolved r;
	assert_int_equal(ipaddr_parse(dst, &key.dst), 0);
	resolve_key(&key, &r);
	assert_int_not_equal(r.verdict, RESOLVED_FORWARD);
	return (enum drop_reason)r.reason;
}

static void test_destinations(void **state)
{
	(void)state;
	static const struct {
		const char *dst;
		enum drop_reason reason;
	} rows[] = {
		{"0.0.0.0", DROP_DST_INVALID},       {"0.1.2.3", DROP_DST_INVALID},
		{"127.0.0.1", DROP_DST_INVALID},     {"127.255.255.255", DROP_DST_INVALID},
		{"169.254.1.2", DROP_DST_INVALID},   {"224.0.0.1", DROP_MULTICAST},
		{"239.255.255.255", DROP_MULTICAST}, {"240.0.0.1", DROP_DST_INVALID},
		{"255.255.255.255", DROP_MULTICAST}, {"::", DROP_DST_INVALID},
		{"::1", DROP_DST_INVALID},           {"::2", DROP_NO_ROUTE},
		{"fe80::9", DROP_DST_INVALID},       {"febf::9", DROP_DST_INVALID},
		{"fec0::9", DROP_NO_ROUTE},          {"ff02::1", DROP_MULTICAST},
		{"10.244.1.77", DROP_NO_ENDPOINT},   {"10.244.2.77", DROP_NO_ROUTE},
		{"fd00:10:1::77", DROP_NO_ENDPOINT}, {"fd00:10:2::77", DROP_NO_ROUTE},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (reason_to(rows[i].dst) != rows[i].reason)
			fail_msg("%s: %s", rows[i].dst, drop_table[reason_to(rows[i].dst)].name);
}

static void test_range_goes(void **state)
{
	(void)state;
	struct ipprefix range;
	assert_int_equal(ipprefix_parse("10.244.1.9/24", &range), 0); // host bits do not matter
	route_del_local_range(&range);
	assert_int_equal(reason_to("10.244.1.77"), DROP_NO_ROUTE);
	route_del_local_range(&range);
}

static int setup(void **state)
{
	(void)state;
	struct ipprefix v4, v6;
	return flow_init(3) | route_init() | ipprefix_parse("10.244.1.0/24", &v4) |
	       ipprefix_parse("fd00:10:1::/64", &v6) | route_add_local_range(&v4, "node/a") |
	       route_add_local_range(&v6, "node/a");
}

static int teardown(void **state)
{
	(void)state;
	flow_fini();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destinations),
		cmocka_unit_test(test_range_goes),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
