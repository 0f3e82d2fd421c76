// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"
#include "features/attach/journal_read.h"
#include "harness/attach_world.h"

static struct attach_world *const w = &attach_world;

static int set_up(void **state)
{
	(void)state;
	attach_world_init();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	attach_world_fini();
	return 0;
}

static const struct attachment *by_id(const char *id)
{
	struct attach_key key = attach_world_key(id);

	return attach_find(w->a, &key);
}

#define KEY "\"network\":\"weft\",\"container_id\":\"c\",\"ifname\":\"eth0\""
#define HOST                                                                               \
	"\"mac\":\"0a:77:0a:f4:01:02\",\"mtu\":1450,\"host\":\"w0\",\"alias\":\"weft:0\"," \
	"\"state\":\"active\""

static void test_senseless_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"{}",
		"[]",
		"7",
		"{\"unknown\":{}}",
		"{\"set\":7}",
		"{\"set\":{}}",
		"{\"set\":{" KEY "}}",
		"{\"set\":{" KEY ",\"ips\":[\"10.244.1.2\"],\"port\":2}}",
		"{\"set\":{" KEY ",\"ips\":7,\"port\":2," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[\"x\"],\"port\":2," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[7],\"port\":2," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[\"127.0.0.1\"],\"port\":2," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[\"10.1.1.1\",\"10.1.1.1\"],\"port\":2," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[\"10.1.1.1\",\"10.1.1.2\",\"10.1.1.3\",\"10.1.1.4\","
		"\"10.1.1.5\",\"10.1.1.6\",\"10.1.1.7\",\"10.1.1.8\",\"10.1.1.9\"],\"port\":2," HOST
		"}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":0," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":1," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":1024," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":-1," HOST "}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":2,\"mac\":\"x\",\"mtu\":1,\"host\":\"w\","
		"\"alias\":\"a\",\"state\":\"active\"}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":2,\"mac\":\"0a:77:0a:f4:01:02\",\"mtu\":1,"
		"\"host\":\"w\",\"alias\":\"a\",\"state\":\"asleep\"}}",
		"{\"set\":{" KEY ",\"ips\":[],\"port\":2,\"mac\":\"0a:77:0a:f4:01:02\",\"mtu\":1,"
		"\"host\":\"much-too-long-a-name\",\"alias\":\"a\",\"state\":\"active\"}}",
		"{\"del\":{}}",
		"{\"range\":{\"prefix\":\"x\",\"next\":1}}",
		"{\"range\":{\"prefix\":\"10.0.0.0/8\"}}",
		"{\"range\":{\"prefix\":\"10.0.0.0/8\",\"next\":-1}}",
		"{\"freed\":7}",
		"{\"freed\":[7]}",
		"{\"freed\":[\"x\"]}",
	};

	(void)state;
	attach_world_open("10.244.1.0/24");
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		if (attach_store_replay(lines[i], strlen(lines[i]), w->a) >= 0)
			fail_msg("line %zu is taken: %s", i, lines[i]);
	assert_null(by_id("c"));
	assert_int_equal(ipam_range_count(w->a->ipam), 1);
	assert_string_equal(attach_world_ip(attach_world_add("next")), "10.244.1.2");
}

static int replay_text(const char *text)
{
	return attach_store_replay(text, strlen(text), w->a);
}

static void test_conflicts(void **state)
{
	static const char other[] = "{\"set\":{\"network\":\"weft\",\"container_id\":\"d\","
				    "\"ifname\":\"eth0\",\"ips\":[\"%s\"],\"port\":%d," HOST "}}";
	char text[512];

	(void)state;
	attach_world_open("10.244.1.0/24");
	assert_int_equal(
		replay_text("{\"set\":{" KEY ",\"ips\":[\"10.244.1.9\"],\"port\":2," HOST "}}"), 0);
	// The same again is an update; another with its address or its port is refused.
	assert_int_equal(
		replay_text("{\"set\":{" KEY ",\"ips\":[\"10.244.1.9\"],\"port\":3," HOST "}}"), 0);
	assert_int_equal(by_id("c")->port_id, 3);
	snprintf(text, sizeof(text), other, "10.244.1.9", 4);
	assert_true(replay_text(text) < 0);
	snprintf(text, sizeof(text), other, "10.244.1.8", 3);
	assert_true(replay_text(text) < 0);
	snprintf(text, sizeof(text), other, "10.244.1.8", 2);
	assert_int_equal(replay_text(text), 0);
	// Whoever waited did so on a connection of the former daemon.
	assert_int_equal(replay_text("{\"del\":{" KEY "}}"), 0);
	assert_null(by_id("c"));
	assert_int_equal(replay_text("{\"del\":{" KEY "}}"), 0);
}

static void test_all_fields(void **state)
{
	struct attach_request rq = attach_world_request("c1");
	const struct attachment *at;
	struct attachment before;

	(void)state;
	attach_world_open("10.244.1.0/24 fd00::/64");
	rq.pod_namespace = "ns";
	rq.pod_name = "na\xc3\xafve \"quoted\"";
	rq.pod_uid = "u-1";
	rq.mtu = 1400;
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
	attach_world_add_link(at->ifindex, at->host_name, NULL);
	assert_int_equal(attach_world_activate("c1", 0, NULL), 0);
	before = *at;
	attach_world_crash();
	attach_world_open("");
	at = by_id("c1");
	assert_non_null(at);
	assert_string_equal(at->pod_namespace, "ns");
	assert_string_equal(at->pod_name, "na\xc3\xafve \"quoted\"");
	assert_string_equal(at->pod_uid, "u-1");
	assert_string_equal(at->netns, "/run/netns/x");
	assert_int_equal(at->mtu, 1400);
	assert_memory_equal(&at->mac, &before.mac, sizeof(before.mac));
	assert_int_equal(at->addr_count, 2);
	assert_memory_equal(at->addrs, before.addrs, sizeof(before.addrs));
	assert_string_equal(at->host_name, before.host_name);
	assert_string_equal(at->alias, before.alias);
	assert_int_equal(at->port_id, before.port_id);
}

// ---- random steps against a model that lives through restarts ----

#define PODS 12

struct model {
	bool alive[PODS];
	char ip[PODS][IPADDR_TEXT_MAX];
};

static void expect_model(const struct model *m)
{
	for (int i = 0; i < PODS; i++) {
		const struct attachment *at;
		char id[16];

		snprintf(id, sizeof(id), "c%d", i);
		at = by_id(id);
		assert_int_equal(at != NULL, m->alive[i]);
		if (at)
			assert_string_equal(attach_world_ip(at), m->ip[i]);
	}
}

static void cut_tail(unsigned seed)
{
	char path[128], junk[40];
	_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/journal", w->state);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)('a' + rand_r(&seed) % 26);
	assert_int_equal(fdio_write_all(fd, junk, sizeof(junk)), 0);
}

static void random_step(struct model *m, unsigned *seed)
{
	int i = rand_r(seed) % PODS;
	struct attach_key key;
	char id[16];

	snprintf(id, sizeof(id), "c%d", i);
	key = attach_world_key(id);
	w->now_ns += NS_PER_SEC;
	if (rand_r(seed) % 20 == 0) {
		attach_world_crash();
		if (rand_r(seed) % 2)
			cut_tail(*seed); // a line that was being written
		attach_world_open("");
	} else if (m->alive[i]) {
		assert_int_equal(attach_detach(w->a, &key), 0);
		m->alive[i] = false;
	} else {
		snprintf(m->ip[i], sizeof(m->ip[i]), "%s", attach_world_ip(attach_world_add(id)));
		m->alive[i] = true;
		for (int k = 0; k < PODS; k++)
			assert_true(k == i || !m->alive[k] || strcmp(m->ip[k], m->ip[i]) != 0);
	}
}

static void test_random_steps(void **state)
{
	unsigned seed = 20261130;
	struct model m = {{false}, {{0}}};

	(void)state;
	attach_world_open("10.244.1.0/27");
	for (int step = 0; step < 1500; step++) {
		random_step(&m, &seed);
		expect_model(&m);
	}
}

static void expect_distinct(const struct attachment *fresh, const char *id)
{
	const struct attachment *at = by_id(id);

	if (at)
		assert_false(ipaddr_is_equal(&fresh->addrs[0], &at->addrs[0]));
}

// The only copy of the journal cut at each byte while two pods live: a record that is whole keeps
// its pod, and its address is given to nobody else.
static void test_cut_anywhere(void **state)
{
	_cleanup_(buf_fini) struct buf whole = BUF_INIT(1 << 20);
	struct link_info links[ATTACH_WORLD_LINKS];
	char path[128], other[128];
	unsigned kept[3] = {0};

	(void)state;
	attach_world_open("10.244.1.0/24");
	(void)attach_world_add("c1");
	(void)attach_world_add("c2");
	snprintf(path, sizeof(path), "%s/journal", w->state);
	snprintf(other, sizeof(other), "%s/journal", w->run);
	assert_int_equal(buf_read_file(&whole, path), 0);
	memcpy(links, w->links, sizeof(links));
	for (size_t cut = 0; cut <= whole.len; cut++) {
		const struct attachment *fresh;

		attach_world_crash();
		memcpy(w->links, links, sizeof(links));
		w->link_count = 2;
		assert_int_equal(fdio_replace_file(path, whole.data, cut, 0600, NULL), 0);
		(void)unlink(other);
		attach_world_open("10.244.1.0/24");
		kept[(by_id("c1") != NULL) + (by_id("c2") != NULL)]++;
		fresh = attach_world_reserve("new", NULL);
		expect_distinct(fresh, "c1");
		expect_distinct(fresh, "c2");
	}
	// Each record was torn, and whole, at some cuts.
	assert_true(kept[0] > 50 && kept[1] > 50 && kept[2] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_senseless_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_conflicts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_fields, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_random_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut_anywhere, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
