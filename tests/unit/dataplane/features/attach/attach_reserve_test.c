// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "features/attach/ipam.h"
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

struct refusal {
	const char *id, *ifname, *network, *ips, *mac;
	uint32_t mtu;
	bool delegated;
	unsigned code;
	const char *text;
};

static void fill(const struct refusal *c, struct attach_request *rq)
{
	char copy[512], *save = NULL;

	*rq = attach_world_request(c->id ? c->id : "c1");
	if (c->ifname)
		rq->key.ifname = c->ifname;
	if (c->network)
		rq->key.network = c->network;
	rq->mtu = c->mtu;
	rq->delegated = c->delegated;
	rq->has_mac = c->mac != NULL;
	if (c->mac)
		assert_int_equal(macaddr_parse(c->mac, &rq->mac), 0);
	snprintf(copy, sizeof(copy), "%s", c->ips ? c->ips : "");
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
		assert_int_equal(ipaddr_parse(p, &rq->addrs[rq->addr_count++]), 0);
}

static void test_refusals(void **state)
{
	static const struct refusal cases[] = {
		{.id = "", .code = 4, .text = "container_id"},
		{.id = "../../etc", .code = 4, .text = "container_id"},
		{.id = ".hidden", .code = 4, .text = "container_id"},
		{.ifname = "", .code = 4, .text = "ifname"},
		{.ifname = "a/b", .code = 4, .text = "ifname"},
		{.ifname = "..", .code = 4, .text = "ifname"},
		{.ifname = "a b", .code = 4, .text = "ifname"},
		{.ifname = "sixteencharacter", .code = 4, .text = "ifname"},
		{.network = "a/b", .code = 7, .text = "network"},
		{.mac = "01:00:5e:00:00:01", .code = 7, .text = "mac"},
		{.mac = "ff:ff:ff:ff:ff:ff", .code = 7, .text = "mac"},
		{.mac = "00:00:00:00:00:00", .code = 7, .text = "mac"},
		{.mac = "02:77:65:66:74:01", .code = 7, .text = "mac"},
		{.mtu = 575, .code = 7, .text = "mtu"},
		{.mtu = 1279, .code = 7, .text = "mtu"},
		{.mtu = 65536, .code = 7, .text = "mtu"},
		{.ips = "10.244.1.7 10.244.1.7", .code = 100, .text = "is taken by container c1"},
		{.ips = "10.244.1.99", .code = 100, .text = "is taken by container holder"},
		{.ips = "10.244.1.1", .code = 100, .text = "gateway"},
		{.ips = "10.9.9.9", .code = 100, .text = "outside"},
		{.ips = "10.244.1.7 fd00:10:2::1", .code = 100, .text = "outside"},
		{.delegated = true, .code = 100, .text = "IPAM plugin"},
		{.delegated = true, .ips = "10.244.1.99", .code = 100, .text = "taken"},
	};
	struct attach_request rq = attach_world_request("holder");
	const struct attachment *at;
	struct ipam_usage u;

	(void)state;
	attach_world_open("10.244.1.0/24 fd00:10:1::/64");
	assert_int_equal(ipaddr_parse("10.244.1.99", &rq.addrs[0]), 0);
	rq.addr_count = 1;
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		fill(&cases[i], &rq);
		assert_true(attach_reserve(w->a, &rq, &at, &err) < 0);
		if (err.code != cases[i].code || !strstr(err.text, cases[i].text))
			fail_msg("case %zu: code %u `%s`", i, err.code, err.text);
	}
	// None of them kept anything.
	ipam_usage(attach_ipam(w->a), 0, &u);
	assert_int_equal(u.used, 1);
	ipam_usage(attach_ipam(w->a), 1, &u);
	assert_int_equal(u.used, 1);
	fill(&(struct refusal){.id = "seven", .ips = "10.244.1.7"}, &rq);
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
}

static void test_addresses(void **state)
{
	static const struct {
		const char *ips, *want;
		bool delegated;
	} cases[] = {
		{"", "10.244.1.2 fd00:10:1::2", false},
		{"10.244.1.9", "10.244.1.9 fd00:10:1::3", false},
		{"fd00:10:1::9", "10.244.1.3 fd00:10:1::9", false},
		{"fd00:10:1::8 10.244.1.8", "10.244.1.8 fd00:10:1::8", false},
		{"10.244.1.20 fd00:10:1::20 10.244.1.21", "10.244.1.20 10.244.1.21 fd00:10:1::20",
		 false},
		{"172.20.0.5", "172.20.0.5", true},
		{"fd99::5", "fd99::5", true},
	};

	(void)state;
	attach_world_open("10.244.1.0/24 fd00:10:1::/64");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char id[16], got[256] = "", text[IPADDR_TEXT_MAX];
		const struct attachment *at;
		struct attach_request rq;
		struct err err = ERR_INIT;

		snprintf(id, sizeof(id), "c%zu", i);
		fill(&(struct refusal){.id = id,
				       .ips = cases[i].ips,
				       .delegated = cases[i].delegated},
		     &rq);
		if (attach_reserve(w->a, &rq, &at, &err) < 0)
			fail_msg("case %zu: %s", i, err.text);
		for (unsigned k = 0; k < at->addr_count; k++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", k ? " " : "",
				 ipaddr_format(&at->addrs[k], text));
		assert_string_equal(got, cases[i].want);
	}
}

static void test_mac(void **state)
{
	char text[MACADDR_TEXT_MAX];
	struct attach_request rq;
	const struct attachment *at;

	(void)state;
	attach_world_open("10.244.1.0/24");
	at = attach_world_reserve("c1", NULL);
	assert_string_equal(macaddr_format(&at->mac, text), "0a:77:0a:f4:01:02");
	fill(&(struct refusal){.id = "c2", .mac = "02:00:00:00:00:09"}, &rq);
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
	assert_string_equal(macaddr_format(&at->mac, text), "02:00:00:00:00:09");
	fill(&(struct refusal){.id = "c3", .ips = "fd99::1", .delegated = true}, &rq);
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
	assert_memory_equal(at->mac.b, "\x0a\x77", 2);
	assert_memory_not_equal(at->mac.b + 2, "\0\0\0\0", 4);
}

static void test_small_mtu_without_ipv6(void **state)
{
	const struct attachment *at;
	struct attach_request rq;

	(void)state;
	attach_world_open("10.244.1.0/24");
	fill(&(struct refusal){.mtu = 576}, &rq);
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
	assert_int_equal(at->mtu, 576);
}

static void test_no_range(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("");
	assert_null(attach_world_reserve("c1", &err));
	assert_int_equal(err.code, 100);
	assert_non_null(strstr(err.text, "no pod range yet"));
}

// The same key again: refused while the first lives, taken over once it is dead (row 7).
static void test_same_key_again(void **state)
{
	const struct attachment *at;
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("10.244.1.0/24");
	at = attach_world_reserve("c1", NULL);
	assert_null(attach_world_reserve("c1", &err));
	assert_int_equal(err.code, ATTACH_CODE_RETRY);
	attach_world_add_link(at->ifindex, at->host_name, NULL);
	assert_int_equal(attach_world_activate("c1", 0, &err), 0);
	assert_null(attach_world_reserve("c1", &err));
	assert_int_equal(err.code, ATTACH_CODE_EXISTS);
	// The pod died and nobody said so.
	attach_world_del_link(at->host_name);
	assert_non_null(attach_world_reserve("c1", &err));
	assert_int_equal(w->closed, 1);
}

static void test_link_errors(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("10.244.1.0/24");
	w->link_errors = 1;
	assert_null(attach_world_reserve("c1", &err));
	assert_non_null(strstr(err.text, "link"));
	w->link_errors = 0;
	// The first address was given back and rests; nothing is left behind.
	assert_string_equal(attach_world_ip(attach_world_reserve("c1", NULL)), "10.244.1.3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_addresses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mac, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_small_mtu_without_ipv6, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_same_key_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_link_errors, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
