// SPDX-License-Identifier: Apache-2.0
#include "podlink.h"

#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "lab.h"

static struct daemon_grant make_grant(struct lab *lab, uint32_t ifindex, const char *host_ifname)
{
	struct daemon_grant g = {
		.mac = {{2, 0, 0, 0, 0, 9}},
		.gateway_mac = {{2, 0, 0, 0, 0, 1}},
		.mtu = 1400,
		.gso_max_size = 65536,
		.host_ifindex = ifindex,
		.netns_fd = lab->host_fd,
	};

	ipaddr_parse("10.0.0.9", &g.ips.ip[0]);
	ipaddr_parse("169.254.1.1", &g.gateways.ip[0]);
	ipaddr_parse("fd00::9", &g.ips.ip[1]);
	ipaddr_parse("fe80::1", &g.gateways.ip[1]);
	g.ips.count = g.gateways.count = 2;
	snprintf(g.host_ifname, sizeof(g.host_ifname), "%s", host_ifname);
	return g;
}

static void open_link(struct lab *lab, struct podlink *link, const char *ifname)
{
	struct err err = ERR_INIT;

	*link = PODLINK_INIT;
	if (podlink_open(link, lab->pod_path, ifname, false, &err) < 0)
		fail_msg("%s", err.text);
}

static int count_route(const struct link_route *r, void *arg)
{
	if (r->dst.len == 0 && r->has_gateway)
		++*(int *)arg;
	return 0;
}

static int defaults(struct lab *lab, int family)
{
	int count = 0;

	assert_int_equal(link_route_foreach(lab->pod, family, count_route, &count, NULL), 0);
	return count;
}

static void makes_and_removes_the_pair(void **state)
{
	struct lab *lab = lab_get(state);
	struct daemon_grant grant = make_grant(lab, 500, "wtest");
	_cleanup_(podlink_fini) struct podlink link;
	struct err err = ERR_INIT;
	struct link_info info;

	open_link(lab, &link, "eth0");
	assert_int_equal(podlink_require_free(&link, &err), 0);
	assert_int_equal(podlink_make(&link, &grant, &err), 0);
	if (podlink_setup(&link, &grant, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(link_get_by_index(lab->host, 500, &info, &err), 0);
	assert_string_equal(info.name, "wtest");
	assert_int_equal(info.mtu, 1400);
	assert_int_equal(link_get_by_name(lab->pod, "eth0", &info, &err), 0);
	assert_memory_equal(&info.mac, &grant.mac, sizeof(grant.mac));
	assert_int_equal(info.mtu, 1400);
	assert_true(info.flags & IFF_UP);
	assert_int_equal(defaults(lab, AF_INET), 1);
	assert_int_equal(defaults(lab, AF_INET6), 1);
	assert_true(podlink_require_free(&link, &err) < 0);
	assert_int_equal(err.code, CNI_CODE_INTERFACE_EXISTS);
	assert_int_equal(podlink_remove(&link, &err), 0);
	assert_int_equal(podlink_remove(&link, &err), 0);
	assert_false(lab_has(lab->pod, "eth0"));
	assert_false(lab_has(lab->host, "wtest"));
}

static void waits_for_the_host_end(void **state)
{
	struct lab *lab = lab_get(state);
	struct daemon_grant grant = make_grant(lab, 500, "wtest");
	const struct link_change up = {.ifindex = 500, .up = 1, .noarp = -1};
	_cleanup_(podlink_fini) struct podlink link;
	struct err err = ERR_INIT;
	struct link_info info;

	open_link(lab, &link, "eth0");
	assert_int_equal(podlink_make(&link, &grant, &err), 0);
	assert_int_equal(podlink_setup(&link, &grant, &err), 0);
	assert_int_equal(link_set(lab->host, &up, &err), 0);
	podlink_wait_running(&link);
	assert_int_equal(link_get_by_name(lab->pod, "eth0", &info, &err), 0);
	assert_true(info.flags & IFF_RUNNING);
}

static void tells_which_end_is_taken(void **state)
{
	struct lab *lab = lab_get(state);
	static const struct {
		const char *name, *ifname, *host_ifname;
		uint32_t ifindex;
		int want; // PODLINK_TAKEN, 0, or -1 for code 101
	} cases[] = {
		{"first", "eth0", "wa", 600, 0},
		{"index", "eth1", "wb", 600, PODLINK_TAKEN},
		{"host name", "eth1", "wa", 601, PODLINK_TAKEN},
		{"pod name", "eth0", "wb", 602, -1},
		{"free again", "eth1", "wb", 603, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct daemon_grant grant =
			make_grant(lab, cases[i].ifindex, cases[i].host_ifname);
		_cleanup_(podlink_fini) struct podlink link;
		struct err err = ERR_INIT;
		int r;

		open_link(lab, &link, cases[i].ifname);
		r = podlink_make(&link, &grant, &err);
		if (cases[i].want < 0 ? err.code != CNI_CODE_INTERFACE_EXISTS :
					r != cases[i].want)
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
}

static void keeps_the_first_way_out(void **state)
{
	struct lab *lab = lab_get(state);
	struct err err = ERR_INIT;

	for (uint32_t i = 0; i < 2; i++) {
		struct daemon_grant grant = make_grant(lab, 700 + i, i ? "wb" : "wa");
		_cleanup_(podlink_fini) struct podlink link;

		grant.ips.ip[0] = ipaddr_add(&grant.ips.ip[0], i);
		grant.ips.ip[1] = ipaddr_add(&grant.ips.ip[1], i);
		open_link(lab, &link, i ? "net1" : "eth0");
		assert_int_equal(podlink_make(&link, &grant, &err), 0);
		if (podlink_setup(&link, &grant, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(defaults(lab, AF_INET), i + 1);
		assert_int_equal(defaults(lab, AF_INET6), i + 1);
	}
}

static void refuses_what_is_no_pod(void **state)
{
	static const struct {
		const char *path;
		bool override;
		unsigned code;
	} cases[] = {
		{"/nope", false, CNI_CODE_NETNS},
		{"/dev/null", false, CNI_CODE_NETNS},
		{"/proc/self/ns/uts", false, CNI_CODE_NETNS},
		{"/proc/self/ns/net", false, CNI_CODE_NETNS},
		{"/proc/self/ns/net", true, 0},
	};

	(void)lab_get(state);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(podlink_fini) struct podlink link = PODLINK_INIT;
		struct err err = ERR_INIT;
		int r = podlink_open(&link, cases[i].path, "eth0", cases[i].override, &err);

		if ((r < 0) != (cases[i].code != 0) || err.code != cases[i].code)
			fail_msg("%s: %d, code %u, %s", cases[i].path, r, err.code, err.text);
	}
}

static void refuses_a_template(void **state)
{
	struct lab *lab = lab_get(state);
	_cleanup_(podlink_fini) struct podlink link;
	struct err err = ERR_INIT;

	open_link(lab, &link, "e%d");
	assert_true(podlink_require_free(&link, &err) < 0);
	assert_int_equal(err.code, CNI_CODE_ENVIRONMENT);
}

#define LAB_TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(makes_and_removes_the_pair), LAB_TEST(waits_for_the_host_end),
		LAB_TEST(tells_which_end_is_taken),   LAB_TEST(keeps_the_first_way_out),
		LAB_TEST(refuses_what_is_no_pod),     LAB_TEST(refuses_a_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
