// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "features/attach/attach_api.h"
#include "harness/attach_world.h"

static struct attach_world *const w = &attach_world;

static int set_up(void **state)
{
	(void)state;
	attach_world_init();
	attach_world_open("10.244.1.0/24 fd00:10:1::/64");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	attach_world_fini();
	return 0;
}

static void ignore(const struct attachment *at, const struct err *err, void *arg)
{
	(void)at;
	(void)err;
	(void)arg;
}

static const struct attach_api_wait wait_conf = {.owner = 1, .done = ignore};

enum call { ATTACH, ACTIVATE, DETACH, CHECK, GC };

// One request; the reply's text (malloc'ed), or NULL with err set.
static char *call(enum call which, const char *request, struct err *err)
{
	const struct jlimits limits = {.bytes = 1 << 20, .depth = 16};
	_cleanup_(jput_freep) struct jput *reply = jput_new();
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jval root;
	int r = -ENOSYS;

	assert_int_equal(jdoc_parse(request, strlen(request), &limits, &doc, NULL), 0);
	root = jdoc_root(doc);
	*err = ERR_INIT;
	jput_object(reply, NULL);
	switch (which) {
	case ATTACH:
		r = attach_api_attach(w->a, &root, 1, reply, err);
		break;
	case ACTIVATE:
		r = attach_api_activate(w->a, &root, &wait_conf, reply, err);
		break;
	case DETACH:
		r = attach_api_detach(w->a, &root, reply, err);
		break;
	case CHECK:
		r = attach_api_check(w->a, &root, err);
		break;
	case GC:
		r = attach_api_gc(w->a, &root, reply, err);
		break;
	}
	if (r < 0)
		return NULL;
	jput_end(reply);
	return jput_take(reply);
}

#define KEY(id) "\"network\":\"weft\",\"container_id\":\"" id "\",\"ifname\":\"eth0\""

static void expect(enum call which, const char *request, const char *want)
{
	struct err err;
	_free_ char *reply = call(which, request, &err);

	if (!reply || !strstr(reply, want))
		fail_msg("%s\n -> %s%s", request, reply ? reply : "", err.text);
}

static void expect_error(enum call which, const char *request, unsigned code, const char *text)
{
	struct err err;
	_free_ char *reply = call(which, request, &err);

	if (reply || err.code != code || !strstr(err.text, text))
		fail_msg("%s\n -> code %u `%s`, wanted %u `%s`", request, err.code, err.text, code,
			 text);
}

static void test_round(void **state)
{
	(void)state;
	expect(ATTACH, "{" KEY("c1") ",\"pod\":{\"namespace\":\"n\",\"name\":\"p\",\"uid\":\"u\"}}",
	       "\"ips\":[\"10.244.1.2\",\"fd00:10:1::2\"],"
	       "\"gateways\":[\"169.254.1.1\",\"fe80::1\"],\"mac\":\"0a:77:0a:f4:01:02\","
	       "\"gateway_mac\":\"02:77:65:66:74:01\",\"mtu\":1450,\"host_ifname\":\"w");
	attach_world_add_link(18, attach_by_port(w->a, 2)->host_name, NULL);
	expect(ACTIVATE, "{" KEY("c1") ",\"wait_ms\":100}", "{\"port\":2}");
	expect(CHECK,
	       "{" KEY("c1") ",\"ips\":[\"10.244.1.2/32\",\"fd00:10:1::2/128\"],"
			     "\"mac\":\"0a:77:0a:f4:01:02\"}",
	       "{");
	expect(DETACH, "{" KEY("c1") "}", "{\"found\":true}");
	expect(DETACH, "{" KEY("c1") "}", "{\"found\":false}");
}

static void test_attach_fields(void **state)
{
	(void)state;
	expect(ATTACH, "{" KEY("c1") ",\"ips\":[\"10.244.1.7/24\"],\"mtu\":0,\"mac\":null}",
	       "10.244.1.7");
	expect(ATTACH, "{" KEY("c2") ",\"mac\":\"02:00:00:00:00:05\",\"mtu\":1300}",
	       "\"mac\":\"02:00:00:00:00:05\",\"gateway_mac\":\"02:77:65:66:74:01\",\"mtu\":1300");
	expect(ATTACH, "{" KEY("c3") ",\"ips\":[\"172.20.0.9\"],\"delegated\":true}",
	       "\"ips\":[\"172.20.0.9\"],\"gateways\":[\"169.254.1.1\"]");
	expect(ATTACH, "{" KEY("c4") ",\"ips\":null,\"pod\":null}", "\"gso_max_size\":65536");
}

static void test_refused(void **state)
{
	static const struct {
		enum call which;
		const char *request;
		unsigned code;
		const char *text;
	} cases[] = {
		{ATTACH, "{}", 7, "network"},
		{ATTACH, "{" KEY("c") ",\"ips\":[7]}", 7, "$.ips[0]"},
		{ATTACH, "{" KEY("c") ",\"ips\":[\"10.244.1\"]}", 7, "`10.244.1` is no address"},
		{ATTACH,
		 "{" KEY("c") ",\"ips\":[\"10.0.0.1\",\"10.0.0.2\",\"10.0.0.3\",\"10.0.0.4\","
			      "\"10.0.0.5\",\"10.0.0.6\",\"10.0.0.7\",\"10.0.0.8\",\"10.0.0.9\"]}",
		 7, "more than 8"},
		{ATTACH, "{" KEY("c") ",\"pod\":{}}", 7, "$.pod.namespace"},
		{ATTACH, "{" KEY("c") ",\"pod\":{\"namespace\":\"n\"}}", 7, "$.pod.name"},
		{ATTACH, "{" KEY("c") ",\"mac\":7}", 7, "$.mac"},
		{ATTACH, "{" KEY("c") ",\"mtu\":-1}", 7, "$.mtu"},
		{ATTACH, "{" KEY("c") ",\"mtu\":65536}", 7, "$.mtu"},
		{ATTACH, "{" KEY("c") ",\"mtu\":100}", 7, "mtu 100"},
		{ATTACH, "{" KEY("../c") "}", 4, "container_id"},
		{ACTIVATE, "{}", 7, "network"},
		{ACTIVATE, "{" KEY("c") ",\"wait_ms\":-1}", 7, "wait_ms"},
		{ACTIVATE, "{" KEY("c") "}", 3, "no reservation"},
		{DETACH, "{\"network\":\"n\"}", 7, "container_id"},
		{CHECK, "{" KEY("c") "}", 3, "has no eth0 here"},
		{CHECK, "{" KEY("c") ",\"ips\":[\"x\"]}", 7, "no address"},
		{GC, "{}", 7, "network"},
		{GC, "{\"network\":\"weft\",\"valid\":7}", 7, "valid"},
		{GC, "{\"network\":\"weft\",\"valid\":[7]}", 7, "valid[0]"},
		{GC, "{\"network\":\"weft\",\"valid\":[{\"container_id\":\"c\"}]}", 7, "ifname"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_error(cases[i].which, cases[i].request, cases[i].code, cases[i].text);
}

static void test_gc(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		char id[16];

		snprintf(id, sizeof(id), "c%d", i);
		(void)attach_world_add(id);
	}
	attach_world_del_link(attach_by_port(w->a, 3)->host_name);
	attach_world_del_link(attach_by_port(w->a, 4)->host_name);
	expect(GC, "{\"network\":\"other\",\"valid\":[]}", "{\"released\":[]}");
	expect(GC,
	       "{\"network\":\"weft\",\"valid\":[{\"container_id\":\"c1\",\"ifname\":\"eth0\"},"
	       "{\"container_id\":\"c2\",\"ifname\":\"net1\"}]}",
	       "{\"released\":[{\"container_id\":\"c2\",\"ifname\":\"eth0\"}]}");
	expect(GC, "{\"network\":\"weft\"}",
	       "{\"released\":[{\"container_id\":\"c1\",\"ifname\":\"eth0\"}]}");
	expect(GC, "{\"network\":\"weft\",\"valid\":null}", "{\"released\":[]}");
	assert_non_null(attach_by_port(w->a, 2));
}

static void test_row(void **state)
{
	static const char *const keys[] = {"namespace",    "name",       "uid",      "network",
					   "container_id", "ifname",     "ips",      "mac",
					   "state",        "port",       "mtu",      "rx_packets",
					   "rx_bytes",     "tx_packets", "tx_bytes", "drops"};
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct counters_sum sum = {.rx_packets = 1, .rx_bytes = 2, .tx_packets = 3, .tx_bytes = 4};
	struct jval root;
	uint64_t n = 0;

	(void)state;
	sum.drops[DROP_TTL] = 5;
	sum.drops[DROP_TX_ERROR] = 6;
	attach_api_row(j, NULL, attach_world_add("c1"), &sum);
	doc = jput_take_doc(j);
	root = jdoc_root(doc);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		assert_true(jget_has(&root, keys[i], 0));
	assert_int_equal(jget_u64(&root, "drops", JREQUIRED, &n, NULL), 0);
	assert_int_equal(n, 11);
	assert_int_equal(jget_u64(&root, "tx_bytes", JREQUIRED, &n, NULL), 0);
	assert_int_equal(n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_attach_fields, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gc, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_row, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
