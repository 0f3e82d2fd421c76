// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "core/counters.h"
#include "features/route/route.h"
#include "harness/control_world.h"
#include "main/rows.h"

static struct control_world world;

// One page as a document.
static struct jdoc *page(const char *object, uint64_t after)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	struct err err = ERR_INIT;

	jput_object(j, NULL);
	if (rows_get(world.d, object, after, j, &err) < 0)
		fail_msg("%s", err.text);
	jput_end(j);
	return jput_take_doc(j);
}

static struct jval items_of(struct jdoc *doc)
{
	struct jval root = jdoc_root(doc), items = {0};

	assert_int_equal(jget_array(&root, "items", JREQUIRED, &items, NULL), 0);
	return items;
}

static void expect_keys(const char *object, size_t at_least, const char *const *keys)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = page(object, 0);
	struct jval items = items_of(doc);

	assert_true(jarray_len(&items) >= at_least);
	for (size_t i = 0; i < jarray_len(&items); i++) {
		struct jval row = jarray_at(&items, i);

		for (size_t k = 0; keys[k]; k++)
			if (!jget_has(&row, keys[k], 0))
				fail_msg("%s has no %s", object, keys[k]);
	}
}

// The keys that scripts rely on.
static void test_keys(void **state)
{
	static const char *const status[] = {"state", "problems", "version", "uptime_s",
					     "node",  "agent",    "uplink",  "pods",
					     "ports", "restarts", NULL};
	static const char *const port[] = {"id",       "kind",       "name",
					   "lane",     "rx_packets", "tx_packets",
					   "rx_drops", "tx_drops",   NULL};
	static const char *const drop[] = {"reason", "port", "direction", "packets", NULL};
	static const char *const flow[] = {"table",  "priority", "match", "action",
					   "cookie", "packets",  NULL};
	static const char *const worker[] = {
		"id",    "cpu", "busy", "idle", "asleep", "rx_packets", "cycles_per_packet",
		"batch", NULL};
	static const char *const none[] = {NULL};

	(void)state;
	counter_drop(counters_worker(0), DAEMON_HOST_PORT, DROP_TTL, 1);
	expect_keys("status", 1, status);
	expect_keys("port", 1, port);
	expect_keys("drop", 1, drop);
	expect_keys("flow", 1, flow);
	expect_keys("worker", 1, worker);
	expect_keys("node", 0, none);
	expect_keys("pod", 0, none);
}

static void test_drops(void **state)
{
	struct counters *c = counters_worker(0);
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	_free_ char *text = NULL;
	struct jval items;

	(void)state;
	counter_drop(c, 0, DROP_RX_UNKNOWN_PORT, 3);
	counter_drop(c, DAEMON_HOST_PORT, DROP_TX_LINK_DOWN, 4);
	counter_drop(c, 900, DROP_MULTICAST, 5);
	counters_retire(900);
	doc = page("drop", 0);
	items = items_of(doc);
	text = jval_text(&items);
	assert_non_null(strstr(text,
			       "{\"reason\":\"rx-unknown-port\",\"port\":\"unknown\",\"pod\":\"\","
			       "\"direction\":\"rx\",\"packets\":3"));
	assert_non_null(strstr(text, "{\"reason\":\"tx-link-down\",\"port\":\"weft0\",\"pod\":\"\","
				     "\"direction\":\"tx\",\"packets\":4"));
	assert_non_null(strstr(text, "{\"reason\":\"multicast\",\"port\":\"gone\",\"pod\":\"\","
				     "\"direction\":\"rx\",\"packets\":5"));
	assert_null(strstr(text, "\"packets\":0"));
}

// Pages of 500: together they hold each row once.
static void test_pages(void **state)
{
	bool seen[2000] = {false};
	uint64_t after = 0;
	unsigned rows = 0;

	(void)state;
	for (unsigned i = 0; i < 1200; i++) {
		struct ipprefix p = {.addr = ipaddr_from_v4(htonl(0x14000000 + i)), .len = 32};

		assert_int_equal(route_add_local_range(&p, "test"), 0);
	}
	do {
		_cleanup_(jdoc_freep) struct jdoc *doc = page("flow", after);
		struct jval root = jdoc_root(doc), items = items_of(doc);

		assert_true(jarray_len(&items) <= ROWS_PAGE);
		for (size_t i = 0; i < jarray_len(&items); i++) {
			struct jval row = jarray_at(&items, i);
			const char *match;
			unsigned a, b;

			assert_int_equal(jget_string(&row, "match", JREQUIRED, &match, NULL), 0);
			if (sscanf(match, "dst=20.0.%u.%u/32", &a, &b) != 2)
				continue;
			assert_false(seen[a << 8 | b]);
			seen[a << 8 | b] = true;
			rows++;
		}
		after = 0;
		assert_int_equal(jget_u64(&root, "next", JOPTIONAL, &after, NULL), 0);
	} while (after > 0);
	assert_int_equal(rows, 1200);
}

static void test_unknown(void **state)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	struct err err = ERR_INIT;

	(void)state;
	jput_object(j, NULL);
	assert_true(rows_get(world.d, "secrets", 0, j, &err) < 0);
	assert_non_null(strstr(err.text, "there is no `secrets`"));
	assert_true(rows_get(world.d, "", 0, j, &err) < 0);
}

static void expect_status(const char *want)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = page("status", 0);
	struct jval root = jdoc_root(doc);
	_free_ char *text = jval_text(&root);

	if (!strstr(text, want))
		fail_msg("%s\nwanted %s", text, want);
}

static void test_problems(void **state)
{
	struct daemon *d = world.d;

	(void)state;
	expect_status("\"state\":\"ok\"");
	expect_status("\"problems\":[]");
	d->options.standalone = false;
	expect_status("weft-agent is not connected");
	expect_status("\"state\":\"degraded\"");
	d->agent.connections = 1;
	expect_status("has not read all objects yet");
	d->agent.synced = true;
	d->agent.problems = strdup("[{\"what\":\"x.yaml: line 3\",\"hint\":\"mend it\"}]");
	expect_status("\"problems\":[{\"what\":\"x.yaml: line 3\",\"hint\":\"mend it\"}]");
	d->agent.event_age_s = 7;
	d->agent.reported_ns = 0;
	expect_status("\"connected\":true,\"synced\":true");
	d->agent.connections = 0;
	d->options.standalone = true;
	snprintf(d->net.problem, sizeof(d->net.problem), "host route to x: refused");
	expect_status("host route to x: refused");
	d->net.problem[0] = '\0';
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),     cmocka_unit_test(test_drops),
		cmocka_unit_test(test_pages),    cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_problems),
	};
	int r;

	log_set_fd(open("/dev/null", O_WRONLY));
	if (control_world_open(&world, true) < 0) {
		printf("1..1\nneeds root\nnot ok 1 # SKIP rows\n");
		return 0;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	control_world_close(&world);
	return r;
}
