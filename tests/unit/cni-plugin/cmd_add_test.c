// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"
#include "lab.h"

// What ADD finds out before it asks weftd for anything. Whole ADDs are in tests/smoke/cni_links.
static void refuses_before_it_begins(void **state)
{
	struct lab *lab = lab_get(state);
	const struct link_veth veth = {.name = "eth0", .peer_name = "peer",
				       .peer_netns_fd = lab->host_fd};
	const struct {
		const char *name, *netns, *ifname, *more;
		unsigned code;
	} cases[] = {
		{"config", lab->pod_path, "net1", ",\"mtu\":5", 7},
		{"prevResult", lab->pod_path, "net1", ",\"prevResult\":1", 6},
		{"netns missing", "/nope", "net1", "", 8},
		{"own netns", "/proc/self/ns/net", "net1", "", 8},
		{"interface exists", lab->pod_path, "eth0", "", 101},
		{"template", lab->pod_path, "e%d", "", 4},
	};

	assert_int_equal(link_add_veth(lab->pod, &veth, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		_free_ char *text = NULL;
		char conf[256];
		int r;

		call_env(cases[i].netns);
		setenv("CNI_IFNAME", cases[i].ifname, 1);
		snprintf(conf, sizeof(conf),
			 "{\"cniVersion\":\"1.0.0\",\"name\":\"n\",\"runDir\":\"/dev/null\"%s}",
			 cases[i].more);
		r = call_verb("ADD", conf, &text, &err);
		if (r >= 0 || err.code != cases[i].code || text)
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
	assert_true(lab_has(lab->pod, "eth0"));
	assert_false(lab_has(lab->pod, "net1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refuses_before_it_begins, lab_setup, lab_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
