// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/resolve.h"

static struct ipprefix prefix(const char *text)
{
	struct ipprefix p;
	assert_int_equal(ipprefix_parse(text, &p), 0);
	return p;
}

static void set(enum flow_table table, const char *dst, uint16_t out)
{
	struct ipprefix p = prefix(dst);
	struct resolved d = {.verdict = RESOLVED_FORWARD, .out_port = out};
	assert_int_equal(flow_set_dst(table, &p, flow_prefix_priority(&p), &d, dst), 0);
}

static struct resolved resolve(const char *dst)
{
	struct flow_key key = {.proto = 6, .in_port = 1};
	struct resolved r;
	assert_int_equal(ipaddr_parse(dst, &key.dst), 0);
	assert_int_equal(ipaddr_parse("10.0.0.1", &key.src), 0);
	resolve_key(&key, &r);
	return r;
}

static void test_longest_prefix_in_any_order(void **state)
{
	(void)state;
	set(FLOW_TABLE_ROUTE, "10.244.1.0/24", 24);
	set(FLOW_TABLE_ROUTE, "0.0.0.0/0", 1);
	set(FLOW_TABLE_ROUTE, "10.244.0.0/16", 16);
	set(FLOW_TABLE_ROUTE, "fd00::/8", 8);
	set(FLOW_TABLE_ROUTE, "::/0", 2);
	set(FLOW_TABLE_ENDPOINT, "10.244.1.7", 32);
	static const struct {
		const char *dst;
		uint16_t out;
	} rows[] = {
		{"10.244.1.7", 32}, {"10.244.1.8", 24}, {"10.244.2.1", 16},
		{"11.0.0.1", 1},    {"fd00::1", 8},     {"2001:db8::1", 2},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(resolve(rows[i].dst).out_port, rows[i].out);
}

static void test_unknown_is_rejected(void **state)
{
	(void)state;
	struct resolved r = resolve("203.0.113.9");
	assert_int_equal(r.verdict, RESOLVED_REJECT);
	assert_int_equal(r.reason, DROP_NO_ROUTE);
	assert_int_equal(r.flow_count, 0);
}

static void test_replace_and_delete(void **state)
{
	(void)state;
	struct ipprefix p = prefix("10.1.0.0/16");
	uint32_t gen = flow_generation();
	set(FLOW_TABLE_ROUTE, "10.1.0.0/16", 3);
	set(FLOW_TABLE_ROUTE, "10.1.99.99/16", 4); // the same prefix: host bits do not count
	assert_int_equal(resolve("10.1.2.3").out_port, 4);
	assert_int_equal(flow_del_dst(FLOW_TABLE_ROUTE, &p, flow_prefix_priority(&p)), 0);
	assert_int_equal(flow_del_dst(FLOW_TABLE_ROUTE, &p, flow_prefix_priority(&p)), -ENOENT);
	assert_int_equal(resolve("10.1.2.3").verdict, RESOLVED_REJECT);
	assert_true(flow_generation() != gen); // freed flows are named by no current entry
	flow_commit();
	assert_true(flow_generation() > gen);
}

static int count(const struct flow *f, void *arg)
{
	unsigned *n = arg;
	assert_true(f->cookie[0] != '\0');
	assert_true(strcmp(flow_table_name(f->table), "?") != 0);
	return ++*n == 3 ? 7 : 0;
}

static void test_foreach_stops(void **state)
{
	(void)state;
	unsigned n = 0;
	char cookie[300];
	struct ipprefix p = prefix("10.3.0.0/16");
	struct resolved d = {.verdict = RESOLVED_DROP};
	memset(cookie, 'c', sizeof(cookie) - 1);
	cookie[sizeof(cookie) - 1] = '\0';
	assert_int_equal(flow_set_dst(FLOW_TABLE_ROUTE, &p, 1, &d, cookie), 0); // cut, not overrun
	set(FLOW_TABLE_ROUTE, "10.4.0.0/16", 3);
	set(FLOW_TABLE_ROUTE, "10.5.0.0/16", 3);
	assert_int_equal(flow_foreach(count, &n), 7);
	assert_int_equal(n, 3);
}

static int setup(void **state)
{
	(void)state;
	return flow_init(1);
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
		cmocka_unit_test_setup_teardown(test_longest_prefix_in_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_is_rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replace_and_delete, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreach_stops, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
