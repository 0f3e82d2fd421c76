// SPDX-License-Identifier: Apache-2.0
#include "hostlink.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "lab.h"

static const struct attachment one = {"net", "c1", "eth0"};

// A host end, with its pod end in the pod's namespace.
static void add_host_end(struct lab *lab, const char *name, const char *alias)
{
	const struct link_veth veth = {.name = "eth0", .peer_name = name,
				       .peer_netns_fd = lab->host_fd};
	struct link_change change = {.up = -1, .noarp = -1, .alias = alias};
	struct link_info info;

	assert_int_equal(link_add_veth(lab->pod, &veth, NULL), 0);
	assert_int_equal(link_get_by_name(lab->host, name, &info, NULL), 0);
	change.ifindex = info.ifindex;
	if (alias)
		assert_int_equal(link_set(lab->host, &change, NULL), 0);
}

static void drop_pod_end(struct lab *lab)
{
	struct link_info info;

	if (link_get_by_name(lab->pod, "eth0", &info, NULL) == 0)
		link_del(lab->pod, info.ifindex, NULL);
}

static void removes_its_own_only(void **state)
{
	struct lab *lab = lab_get(state);
	char hash[ATTACHMENT_HASH_MAX], alias[64], name[LINK_NAME_MAX];
	const struct {
		const char *what, *name, *alias;
		bool thorough, gone;
	} cases[] = {
		{"finished", name, alias, false, true},
		{"unfinished, no alias yet", name, NULL, false, true},
		{"name of ours, alias of another", name, "weft:00", true, false},
		{"salted name", "wother", alias, true, true},
		{"salted name, quick look", "wother", alias, false, false},
		{"another's", "wother", "weft:00", true, false},
		{"another's, unfinished", "wother", NULL, true, false},
	};

	snprintf(alias, sizeof(alias), "weft:%s", attachment_hash(&one, hash));
	snprintf(name, sizeof(name), "w%.12s", hash);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		int r;

		add_host_end(lab, cases[i].name, cases[i].alias);
		r = hostlink_remove(LAB_NETNS, &one, cases[i].thorough, &err);
		if (r != (cases[i].gone ? 0 : HOSTLINK_NOT_FOUND) ||
		    lab_has(lab->host, cases[i].name) == cases[i].gone)
			fail_msg("%s: %d, %s", cases[i].what, r, err.text);
		drop_pod_end(lab);
	}
}

static void needs_no_namespace(void **state)
{
	struct err err = ERR_INIT;

	(void)lab_get(state);
	assert_int_equal(hostlink_remove(LAB_NETNS, &one, true, &err), HOSTLINK_NOT_FOUND);
	assert_int_equal(hostlink_remove("missing", &one, true, &err), HOSTLINK_NOT_FOUND);
	assert_string_equal(err.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(removes_its_own_only, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(needs_no_namespace, lab_setup, lab_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
