// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <string.h>

#include "features/endpoint/endpoint.h"
#include "flow/flow.h"
#include "flow/resolve.h"

static struct port pod = {
	.id = 9, .kind = PORT_KIND_POD, .mtu = 1450, .addr_count = 2, .mac = {{2, 0, 0, 0, 0, 9}}};

static struct resolved to(const struct ipaddr *dst)
{
	struct flow_key key = {.dst = *dst, .proto = 17};
	struct resolved r;
	resolve_key(&key, &r);
	return r;
}

static void test_both_families(void **state)
{
	(void)state;
	assert_int_equal(endpoint_add(&pod, "pod/a/b"), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct resolved r = to(&pod.addrs[i]);
		assert_int_equal(r.verdict, RESOLVED_FORWARD);
		assert_int_equal(r.out_port, 9);
		assert_int_equal(r.mtu, 1450);
		assert_true(r.dec_ttl);
		assert_memory_equal(r.dst_mac.b, pod.mac.b, 6);
		assert_memory_equal(r.src_mac.b, gateway_mac.b, 6);
		assert_string_equal(r.flows[0]->cookie, "pod/a/b");
	}
	endpoint_del(&pod);
	endpoint_del(&pod); // gone already: nothing happens
	assert_int_equal(to(&pod.addrs[0]).verdict, RESOLVED_REJECT);
}

static void test_host(void **state)
{
	(void)state;
	struct port host = {.id = 1, .kind = PORT_KIND_HOST, .mtu = 1500};
	assert_int_equal(endpoint_add_host(&pod.addrs[1], &host, "node/x"), 0);
	assert_int_equal(to(&pod.addrs[1]).out_port, 1);
	endpoint_del_host(&pod.addrs[1]);
	assert_int_equal(to(&pod.addrs[1]).verdict, RESOLVED_REJECT);
}

static int setup(void **state)
{
	(void)state;
	return ipaddr_parse("10.1.1.1", &pod.addrs[0]) | ipaddr_parse("fd00::1", &pod.addrs[1]) |
	       flow_init(3);
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
		cmocka_unit_test(test_both_families),
		cmocka_unit_test(test_host),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
