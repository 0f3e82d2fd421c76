// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "flow/flow.h"
#include "harness/control_world.h"
#include "main/apply.h"

static struct control_world world;

static void expect(struct control_client *c, const char *request, const char *want)
{
	const char *reply = control_client_call(c, request);

	if (!reply || !strstr(reply, want))
		fail_msg("%s\n -> %s\nwanted %s", request, reply ? reply : "nothing", want);
}

#define NODE(name, self, ips, cidrs)                                                              \
	"{\"op\":\"set\",\"kind\":\"node\",\"name\":\"" name "\",\"self\":" self ",\"ips\":[" ips \
	"],\"pod_cidrs\":[" cidrs "]}"
#define POD(name) "{\"op\":\"set\",\"kind\":\"pod\",\"namespace\":\"ns\",\"name\":\"" name "\"}"
#define APPLY(ops) "{\"type\":\"apply\",\"ops\":[" ops "]}"

static bool is_known(const char *name)
{
	return apply_pod_is_known(world.d, "ns", name);
}

static int set_up(void **state)
{
	struct control_client *c = calloc(1, sizeof(*c));

	if (control_world_open(&world, false) < 0)
		return -1;
	world.d->options.pod_cidrs.count = 0; // ranges come from the agent
	assert_int_equal(control_client_open(&world, c), 0);
	control_client_hello(c, "weft-agent");
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct control_client *c = *state;

	control_client_close(c);
	free(c);
	control_world_close(&world);
	return 0;
}

static void test_sync(void **state)
{
	struct control_client *c = *state;

	expect(c, "{\"type\":\"end-sync\"}", "without begin-sync");
	expect(c, "{\"type\":\"begin-sync\"}", "\"generation\":1");
	expect(c,
	       APPLY(NODE("a", "true", "\"192.0.2.1\"",
			  "\"10.244.7.0/24\"") "," POD("p1") "," POD("p2")),
	       "\"applied\":3");
	assert_false(is_known("p1"));
	expect(c, "{\"type\":\"end-sync\"}", "\"removed\":0");
	assert_true(is_known("p1"));
	// What is not repeated goes, and only then.
	expect(c, "{\"type\":\"begin-sync\"}", "\"generation\":2");
	expect(c, APPLY(POD("p1")), "\"applied\":1");
	assert_true(is_known("p2"));
	expect(c, "{\"type\":\"end-sync\"}", "\"removed\":2");
	assert_false(is_known("p2"));
	assert_null(node_table_self(world.d->nodes));
}

// One bad op, and nothing of the line is done.
static void test_all_or_nothing(void **state)
{
	static const struct {
		const char *op, *want;
	} cases[] = {
		{"7", "op 1"},
		{"{}", "op 1"},
		{"{\"op\":\"move\",\"kind\":\"pod\"}", "`move` is neither set nor del"},
		{"{\"op\":\"set\",\"kind\":\"flow\"}", "`flow` is unknown"},
		{"{\"op\":\"set\",\"kind\":\"pod\"}", "op 1: $.ops[1].namespace"},
		{"{\"op\":\"del\",\"kind\":\"pod\",\"namespace\":\"ns\"}", "name"},
		{"{\"op\":\"del\",\"kind\":\"node\"}", "name"},
		{NODE("n", "true", "\"x\"", ""), "no node's address"},
		{NODE("n", "true", "", "\"10.0.0.0/40\""), "no range"},
	};
	struct control_client *c = *state;
	char text[1024];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof(text), APPLY(POD("p1") ",%s," POD("p2")), cases[i].op);
		expect(c, text, "\"code\":7");
		expect(c, text, cases[i].want);
	}
	expect(c, "{\"type\":\"apply\",\"ops\":7}", "ops");
	assert_int_equal(pod_table_len(world.d->pods), 0);
	assert_int_equal(node_table_len(world.d->nodes), 0);
}

static void test_op_limit(void **state)
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(1 << 20);
	struct control_client *c = *state;

	(void)buf_addf(&b, "{\"type\":\"apply\",\"ops\":[" POD("p"));
	for (int i = 0; i < 499; i++)
		(void)buf_addf(&b, "," POD("p"));
	(void)buf_addf(&b, "]}");
	expect(c, b.data, "\"applied\":500");
	b.data[b.len - 2] = ',';
	b.data[b.len - 1] = ' ';
	(void)buf_addf(&b, POD("p") "]}");
	expect(c, b.data, "more than 500 ops");
}

static void test_delete(void **state)
{
	struct control_client *c = *state;

	expect(c, APPLY(POD("p1") "," NODE("a", "false", "", "")), "\"applied\":2");
	expect(c,
	       APPLY("{\"op\":\"del\",\"kind\":\"pod\",\"namespace\":\"ns\",\"name\":"
		     "\"p1\"},{\"op\":\"del\",\"kind\":\"node\",\"name\":\"a\"},"
		     "{\"op\":\"del\",\"kind\":\"node\",\"name\":\"never\"}"),
	       "\"applied\":3");
	assert_int_equal(pod_table_len(world.d->pods), 0);
	assert_int_equal(node_table_len(world.d->nodes), 0);
}

// Two agents: the one that began last may end, a connection that breaks ends nothing.
static void test_two_agents(void **state)
{
	struct control_client *c = *state, other;

	assert_int_equal(control_client_open(&world, &other), 0);
	control_client_hello(&other, "weft-agent");
	assert_int_equal(world.d->agent.connections, 2);
	expect(c, "{\"type\":\"begin-sync\"}", "generation");
	expect(c, APPLY(POD("p1")), "applied");
	expect(&other, "{\"type\":\"begin-sync\"}", "generation");
	expect(c, "{\"type\":\"end-sync\"}", "without begin-sync");
	control_client_close(&other);
	assert_int_equal(world.d->agent.connections, 1);
	assert_int_equal(pod_table_len(world.d->pods), 1);
	assert_false(is_known("p1"));
}

static int count_cookie(const struct flow *f, void *arg)
{
	*(unsigned *)arg += strcmp(f->cookie, "node/self") == 0;
	return 0;
}

static unsigned node_flows(void)
{
	unsigned n = 0;

	(void)flow_foreach(count_cookie, &n);
	return n;
}

// The own node brings ranges and addresses, its change replaces them, its end keeps them.
static void test_own_node(void **state)
{
	struct control_client *c = *state;
	const struct daemon_net *net = &world.d->net;

	expect(c, APPLY(NODE("b", "false", "\"192.0.2.2\"", "\"10.244.2.0/24\"")), "applied");
	expect(c,
	       APPLY(NODE("a", "true", "\"192.0.2.1\",\"fd00::1\"",
			  "\"10.244.1.0/24\",\"fd00:10:1::/64\"")),
	       "applied");
	assert_int_equal(net->range_count, 2);
	assert_int_equal(net->ip_count, 2);
	assert_int_equal(node_flows(), 4);
	expect(c, APPLY(NODE("a", "true", "\"192.0.2.9\"", "\"10.244.9.0/24\"")), "applied");
	assert_int_equal(net->range_count, 1);
	assert_int_equal(net->ip_count, 1);
	assert_int_equal(node_flows(), 2);
	// No address for a moment is no change (row 44).
	expect(c, APPLY(NODE("a", "true", "", "\"10.244.9.0/24\"")), "applied");
	assert_int_equal(net->ip_count, 1);
	expect(c, APPLY("{\"op\":\"del\",\"kind\":\"node\",\"name\":\"a\"}"), "applied");
	assert_int_equal(net->range_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sync, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_or_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_op_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_delete, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_agents, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_node, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	if (geteuid() != 0) {
		printf("1..1\nneeds root\nnot ok 1 # SKIP apply\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
