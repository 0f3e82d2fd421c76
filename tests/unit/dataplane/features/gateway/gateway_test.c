// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>

#include "features/gateway/gateway.h"
#include "features/gateway/gateway_fast.h"
#include "flow/flow.h"
#include "flow/resolve.h"

static bool is_local(const char *dst)
{
	struct flow_key key = {.proto = 1};
	struct resolved r;
	assert_int_equal(ipaddr_parse(dst, &key.dst), 0);
	resolve_key(&key, &r);
	return r.verdict == RESOLVED_LOCAL;
}

static void test_set_is_replaced(void **state)
{
	(void)state;
	struct ipaddr a[2];
	assert_int_equal(ipaddr_parse("10.244.1.1", &a[0]), 0);
	assert_int_equal(ipaddr_parse("10.244.9.1", &a[1]), 0);
	assert_int_equal(gateway_set_get()->count, 2); // link-local before anything is set
	assert_int_equal(gateway_set_addrs(&a[0], 1), 0);
	assert_true(is_local("10.244.1.1") && is_local("169.254.1.1") && is_local("fe80::1"));
	assert_int_equal(gateway_set_addrs(&a[1], 1), 0);
	assert_false(is_local("10.244.1.1"));
	assert_true(is_local("10.244.9.1") && is_local("169.254.1.1"));
	assert_int_equal(gateway_set_addrs(NULL, 0), 0);
	assert_false(is_local("10.244.9.1"));
	assert_true(is_local("fe80::1"));
}

static void test_too_many(void **state)
{
	(void)state;
	struct ipaddr a[GATEWAY_ADDRS_MAX + 1] = {0};
	assert_int_equal(gateway_set_addrs(a, GATEWAY_ADDRS_MAX + 1), -E2BIG);
	assert_true(is_local("169.254.1.1") || gateway_set_get()->count == 2);
}

static int setup(void **state)
{
	(void)state;
	return flow_init(3);
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
		cmocka_unit_test(test_set_is_replaced),
		cmocka_unit_test(test_too_many),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
