// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "harness/attach_world.h"

static struct attach_world *const w = &attach_world;

static int set_up(void **state)
{
	(void)state;
	attach_world_init();
	attach_world_open("10.244.1.0/24");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	attach_world_fini();
	return 0;
}

static void test_names(void **state)
{
	static const char *const ids[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"};
	const char *const parts[] = {"weft", ids[0], "eth0"};
	const struct attachment *one = attach_world_reserve(ids[0], NULL);
	const struct attachment *two = attach_world_reserve(ids[1], NULL);
	struct attach_request rq = attach_world_request(ids[0]);
	const struct attachment *three;
	char hash[33], name[LINK_NAME_MAX];

	(void)state;
	rq.key.ifname = "net1";
	assert_int_equal(attach_reserve(w->a, &rq, &three, NULL), 0);
	hash_strings_hex(parts, 3, hash);
	snprintf(name, sizeof(name), "w%.12s", hash);
	assert_string_equal(one->host_name, name);
	assert_string_equal(one->alias + 5, hash);
	assert_string_not_equal(one->host_name, two->host_name);
	assert_string_not_equal(one->host_name, three->host_name);
	assert_true(strlen(two->host_name) == 13);
}

// A stranger has the name, another attachment has it: salted, never "exists" (row 3).
static void test_name_clash(void **state)
{
	const struct attachment *at = attach_world_reserve("c1", NULL);
	struct attach_key key = attach_world_key("c1");
	char first[LINK_NAME_MAX], alias[ATTACH_ALIAS_MAX];

	(void)state;
	snprintf(first, sizeof(first), "%s", at->host_name);
	snprintf(alias, sizeof(alias), "%s", at->alias);
	(void)attach_detach(w->a, &key);
	attach_world_add_link(4000, first, NULL);
	at = attach_world_add("c1");
	assert_string_not_equal(at->host_name, first);
	assert_int_equal(at->host_name[0], 'w');
	assert_int_equal(strlen(at->host_name), 13);
	assert_string_equal(at->alias, alias); // names the attachment whatever the link is called
	(void)attach_detach(w->a, &key);
	assert_true(attach_world_has_link(first));
	assert_int_equal(w->link_count, 1);
}

static void test_setup_sets_alias(void **state)
{
	const struct attachment *at = attach_world_add("c1");

	(void)state;
	assert_string_equal(w->links[0].alias, at->alias);
	assert_memory_equal(at->alias, "weft:", 5);
}

// The kernel refuses to delete: the attachment goes all the same, the link is met again at start.
static void test_delete_fails(void **state)
{
	struct attach_key key = attach_world_key("c1");

	(void)state;
	(void)attach_world_add("c1");
	w->link_errors = 9;
	assert_int_equal(attach_detach(w->a, &key), 0);
	w->link_errors = 0;
	assert_int_equal(w->link_count, 1);
	attach_world_crash();
	attach_world_open("");
	assert_int_equal(w->link_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_name_clash, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_setup_sets_alias, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_delete_fails, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
