// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
// wrap: clock_boot_id
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "features/attach/ipam.h"
#include "harness/attach_world.h"

static struct attach_world *const w = &attach_world;
static const char *boot_id;

int __wrap_clock_boot_id(char out[37]);
int __wrap_clock_boot_id(char out[37])
{
	snprintf(out, 37, "%s", boot_id);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	boot_id = "11111111-1111-1111-1111-111111111111";
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
	for (uint16_t i = 0; i < PORT_MAX; i++) {
		const struct attachment *at = attach_by_port(w->a, i);

		if (at && strcmp(at->container_id, id) == 0)
			return at;
	}
	return NULL;
}

static uint64_t used(void)
{
	struct ipam_usage u;

	ipam_usage(attach_ipam(w->a), 0, &u);
	return u.used;
}

static void remove_journals(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/journal", w->state);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/journal", w->run);
	assert_int_equal(unlink(path), 0);
}

static void restart(void)
{
	attach_world_crash();
	w->opened = 0;
	attach_world_open("");
}

// The daemon died: the living are served again as they were, the dead wait for their end (row 45).
static void test_restart(void **state)
{
	char gone[LINK_NAME_MAX];
	uint16_t port;

	(void)state;
	attach_world_open("10.244.1.0/24 fd00:10:1::/64");
	port = attach_world_add("live")->port_id;
	snprintf(gone, sizeof(gone), "%s", attach_world_add("dead")->host_name);
	(void)attach_world_reserve("reserved", NULL);
	attach_world_del_link(gone);
	restart();
	assert_int_equal(w->opened, 1);
	assert_int_equal(by_id("live")->port_id, port);
	assert_int_equal(by_id("live")->state, ATTACH_ACTIVE);
	assert_string_equal(attach_world_ip(by_id("live")), "10.244.1.2");
	assert_true(atomic_load(&port_get(port)->active));
	assert_int_equal(by_id("dead")->state, ATTACH_GONE);
	assert_null(by_id("reserved"));
	assert_int_equal(used(), 2);
	// What the live one has is given to nobody else, and the dead one's not yet.
	assert_string_equal(attach_world_ip(attach_world_add("new")), "10.244.1.5");
	w->now_ns += ATTACH_GONE_NS;
	attach_tick(w->a, w->now_ns);
	assert_null(by_id("dead"));
}

// Reboot: no pod came back, all addresses do, in the order they were used (row 8).
static void test_reboot(void **state)
{
	(void)state;
	attach_world_open("10.244.1.0/29");
	for (int i = 0; i < 5; i++) {
		char id[16];

		snprintf(id, sizeof(id), "c%d", i);
		(void)attach_world_add(id);
	}
	w->link_count = 0;
	boot_id = "22222222-2222-2222-2222-222222222222";
	restart();
	assert_int_equal(used(), 0);
	for (int i = 0; i < 5; i++) {
		char id[16];

		snprintf(id, sizeof(id), "n%d", i);
		(void)attach_world_add(id);
	}
	assert_null(attach_world_reserve("sixth", NULL));
}

// A boot id says something only where the link is gone: nothing of a live pod is given away.
static void test_other_boot_id_but_alive(void **state)
{
	(void)state;
	attach_world_open("10.244.1.0/24");
	(void)attach_world_add("live");
	boot_id = "22222222-2222-2222-2222-222222222222";
	restart();
	assert_int_equal(by_id("live")->state, ATTACH_ACTIVE);
}

static void test_freed_order_survives(void **state)
{
	static const char *const ids[] = {"c3", "c1", "c2"};

	(void)state;
	attach_world_open("10.244.1.0/29");
	for (int i = 1; i <= 5; i++) {
		char id[16];

		snprintf(id, sizeof(id), "c%d", i);
		(void)attach_world_add(id);
	}
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct attach_key key = attach_world_key(ids[i]);

		assert_int_equal(attach_detach(w->a, &key), 0);
	}
	restart();
	restart(); // once from lines, once from a snapshot
	assert_string_equal(attach_world_ip(attach_world_add("n1")), "10.244.1.4");
	assert_string_equal(attach_world_ip(attach_world_add("n2")), "10.244.1.2");
	assert_string_equal(attach_world_ip(attach_world_add("n3")), "10.244.1.3");
}

// Host ends of nobody: half an ADD is removed; so is one with our alias while records can be
// trusted.
static void test_strangers(void **state)
{
	(void)state;
	attach_world_open("10.244.1.0/24");
	(void)attach_world_add("live");
	attach_world_add_link(1, "lo", NULL);
	attach_world_add_link(17, "host0", NULL);
	attach_world_add_link(300, "w0123456789ab", NULL);
	attach_world_add_link(301, "renamed", "weft:0123456789abcdef0123456789abcdef");
	attach_world_add_link(302, "wother", NULL);
	attach_world_add_link(303, "w0123456789aB", "somebody else's");
	restart();
	assert_false(attach_world_has_link("w0123456789ab"));
	assert_false(attach_world_has_link("renamed"));
	assert_int_equal(w->link_count, 5);
	assert_int_equal(w->opened, 1);
}

// The journal is lost while pods live: their links stay, and somebody is told.
static void test_lost_journal(void **state)
{
	struct attach_health h;

	(void)state;
	attach_world_open("10.244.1.0/24");
	(void)attach_world_add("live");
	attach_world_add_link(300, "w0123456789ab", NULL);
	attach_world_crash();
	w->opened = 0;
	remove_journals();
	attach_world_open("10.244.1.0/24");
	attach_health(w->a, &h);
	assert_int_equal(h.unknown_links, 1);
	assert_int_equal(w->link_count, 1);
	assert_int_equal(w->opened, 0);
}

// Another link under the index of a dead pod is not its link.
static void test_index_reused(void **state)
{
	const struct attachment *at;
	uint32_t index;

	(void)state;
	attach_world_open("10.244.1.0/24");
	at = attach_world_add("c1");
	index = at->ifindex;
	attach_world_del_link(at->host_name);
	attach_world_add_link(index, "stranger", NULL);
	restart();
	assert_int_equal(by_id("c1")->state, ATTACH_GONE);
	assert_true(attach_world_has_link("stranger"));
	assert_int_equal(w->opened, 0);
}

static void test_port_cannot_be_opened(void **state)
{
	(void)state;
	attach_world_open("10.244.1.0/24");
	(void)attach_world_add("c1");
	attach_world_crash();
	w->open_error = ENOBUFS;
	attach_world_open("");
	assert_int_equal(by_id("c1")->state, ATTACH_GONE);
	assert_int_equal(used(), 1);
	// The link lives, so it is no corpse: tried again instead of buried.
	w->now_ns += ATTACH_GONE_NS;
	w->open_error = ENOBUFS;
	attach_tick(w->a, w->now_ns);
	assert_int_equal(by_id("c1")->state, ATTACH_GONE);
	w->now_ns += ATTACH_GONE_NS;
	attach_tick(w->a, w->now_ns);
	assert_int_equal(by_id("c1")->state, ATTACH_ACTIVE);
	assert_int_equal(w->link_count, 1);
}

static void test_links_cannot_be_listed(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(attach_open(&w->conf, &w->a, NULL), 0);
	w->link_errors = 1;
	assert_int_equal(attach_restore(w->a, &err), -EIO);
	assert_non_null(strstr(err.text, "private namespace"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_restart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reboot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_boot_id_but_alive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_freed_order_survives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_strangers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost_journal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_index_reused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_port_cannot_be_opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links_cannot_be_listed, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
