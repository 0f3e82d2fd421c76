// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"
#include "lab.h"

#define WEFTD_IS_AWAY 11 // everything before it was right

// A pod with eth0: 02:00:00:00:00:05, 10.0.0.5/32, default route via 10.0.0.1.
static void build_pod(struct lab *lab)
{
	const struct link_veth veth = {.name = "eth0",
				       .peer_name = "peer",
				       .peer_netns_fd = lab->host_fd,
				       .mac = {{2, 0, 0, 0, 0, 5}}};
	struct link_change up = {.up = 1, .noarp = -1};
	struct link_route route = {.has_gateway = true, .onlink = true};
	struct link_info info;
	struct ipprefix addr;

	assert_int_equal(link_add_veth(lab->pod, &veth, NULL), 0);
	assert_int_equal(link_get_by_name(lab->pod, "eth0", &info, NULL), 0);
	up.ifindex = route.ifindex = info.ifindex;
	assert_int_equal(ipprefix_parse("10.0.0.5/32", &addr), 0);
	assert_int_equal(link_addr_add(lab->pod, info.ifindex, &addr, NULL), 0);
	assert_int_equal(link_set(lab->pod, &up, NULL), 0);
	assert_int_equal(ipprefix_parse("0.0.0.0/0", &route.dst), 0);
	assert_int_equal(ipaddr_parse("10.0.0.1", &route.gateway), 0);
	assert_int_equal(link_route_set(lab->pod, &route, NULL), 0);
}

#define ITF(more)                                                                               \
	"\"interfaces\":[{\"name\":\"h\"},{\"name\":\"eth0\",\"sandbox\":\"/s\"" more "}]"
#define IP(address) ",\"ips\":[{\"interface\":1,\"address\":\"" address "\"}]"
#define ROUTE(dst, gw) ",\"routes\":[{\"dst\":\"" dst "\",\"gw\":\"" gw "\"}]"

static void compares_prev_result_with_the_pod(void **state)
{
	static const struct {
		const char *name, *prev;
		unsigned code;
	} cases[] = {
		{"interface", ITF(""), WEFTD_IS_AWAY},
		{"mac", ITF(",\"mac\":\"02:00:00:00:00:05\""), WEFTD_IS_AWAY},
		{"other mac", ITF(",\"mac\":\"02:00:00:00:00:06\""), 103},
		{"bad mac", ITF(",\"mac\":\"x\""), 6},
		{"address", ITF("") IP("10.0.0.5/32"), WEFTD_IS_AWAY},
		{"other address", ITF("") IP("10.0.0.6/32"), 103},
		{"other interface's address",
		 ITF("") ",\"ips\":[{\"interface\":0,\"address\":\"10.0.0.6/24\"}]",
		 WEFTD_IS_AWAY},
		{"bad address", ITF("") IP("10.0.0"), 6},
		{"bad index",
		 ITF("") ",\"ips\":[{\"interface\":\"1\",\"address\":\"1.2.3.4/5\"}]", 6},
		{"route", ITF("") ROUTE("0.0.0.0/0", "10.0.0.1"), WEFTD_IS_AWAY},
		{"route without gateway", ITF("") ROUTE("0.0.0.0/0", ""), WEFTD_IS_AWAY},
		{"other gateway", ITF("") ROUTE("0.0.0.0/0", "10.0.0.2"), 103},
		{"other family", ITF("") ROUTE("::/0", "fe80::1"), 103},
		{"not a default route", ITF("") ROUTE("10.1.0.0/16", "10.0.0.2"), WEFTD_IS_AWAY},
		{"bad gateway", ITF("") ROUTE("0.0.0.0/0", "x"), 103},
		{"no interface", "\"interfaces\":[]", 103},
		{"not in a sandbox", "\"interfaces\":[{\"name\":\"eth0\"}]", 103},
		{"other name", "\"interfaces\":[{\"name\":\"eth1\",\"sandbox\":\"/s\"}]", 103},
		{"entry", "\"interfaces\":[1]", 6},
		{"nothing", "\"dns\":{}", 6},
	};
	struct lab *lab = lab_get(state);

	build_pod(lab);
	call_env(lab->pod_path);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		_free_ char *text = NULL;
		char conf[512];
		int r;

		snprintf(conf, sizeof(conf),
			 "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"runDir\":\"/dev/null\","
			 "\"prevResult\":{%s}}",
			 cases[i].prev);
		r = call_verb("CHECK", conf, &text, &err);
		if (r >= 0 || err.code != cases[i].code || text)
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(compares_prev_result_with_the_pod, lab_setup,
						lab_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
