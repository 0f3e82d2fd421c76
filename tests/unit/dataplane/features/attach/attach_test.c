// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns fdatasync
// wrap: fsync
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "features/attach/ipam.h"
#include "harness/attach_world.h"

static struct attach_world *const w = &attach_world;
static int sync_error;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	errno = sync_error;
	return sync_error ? -1 : __real_fdatasync(fd);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	errno = sync_error;
	return sync_error ? -1 : __real_fsync(fd);
}

static int set_up(void **state)
{
	(void)state;
	sync_error = 0;
	attach_world_init();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	attach_world_fini();
	return 0;
}

static void test_life(void **state)
{
	struct attach_key key = attach_world_key("c1");
	const struct attachment *at;
	char cookie[64];

	(void)state;
	attach_world_open("10.244.1.0/24 fd00:10:1::/64");
	at = attach_world_add("c1");
	assert_int_equal(at->state, ATTACH_ACTIVE);
	assert_string_equal(attach_state_name(at->state), "active");
	assert_string_equal(attach_world_ip(at), "10.244.1.2");
	assert_int_equal(at->addr_count, 2);
	assert_int_equal(at->ifindex, ATTACH_IFINDEX_BASE + at->port_id);
	assert_ptr_equal(attach_by_port(w->a, at->port_id), at);
	assert_true(atomic_load(&port_get(at->port_id)->active));
	assert_string_equal(attach_cookie(at, cookie, sizeof(cookie)), "attachment/c1/eth0");
	assert_int_equal(attach_deadline(w->a), UINT64_MAX);
	assert_int_equal(attach_detach(w->a, &key), 0);
	assert_int_equal(w->link_count, 0);
	assert_int_equal(w->closed, 1);
	assert_int_equal(w->removed, 1);
	assert_int_equal(attach_detach(w->a, &key), ATTACH_NOT_FOUND);
	assert_null(attach_by_port(w->a, 2));
	assert_null(attach_by_port(w->a, PORT_MAX));
}

// An id comes back last, and never while its former port or link is still there.
static void test_ids(void **state)
{
	struct attach_key key = attach_world_key("c1");
	uint16_t first;

	(void)state;
	attach_world_open("10.244.1.0/24");
	first = attach_world_add("c1")->port_id;
	assert_int_equal(first, ATTACH_ID_MIN);
	(void)attach_detach(w->a, &key);
	w->busy_id = first + 1;
	attach_world_add_link(ATTACH_IFINDEX_BASE + first + 2, "stranger", NULL);
	assert_int_equal(attach_world_add("c2")->port_id, first + 3);
}

static void test_all_ids_in_use(void **state)
{
	struct err err = ERR_INIT;
	char id[16];

	(void)state;
	attach_world_open("10.0.0.0/16");
	for (int i = ATTACH_ID_MIN; i < PORT_MAX; i++) {
		snprintf(id, sizeof(id), "c%d", i);
		assert_non_null(attach_world_reserve(id, NULL));
	}
	assert_null(attach_world_reserve("more", &err));
	assert_int_equal(err.code, ATTACH_CODE_RETRY);
	attach_owner_gone(w->a, 1);
	assert_non_null(attach_world_reserve("more", NULL));
}

// The disk is full: nothing new, but what is there can go, and that is not forgotten.
static void test_journal_fails(void **state)
{
	struct attach_key key = attach_world_key("c1");
	struct attach_health h;
	struct err err = ERR_INIT;
	const struct attachment *at;

	(void)state;
	attach_world_open("10.244.1.0/24");
	attach_world_add("c1");
	at = attach_world_reserve("c2", NULL);
	assert_non_null(at);
	attach_world_add_link(at->ifindex, at->host_name, NULL);
	sync_error = ENOSPC;
	assert_true(attach_world_activate("c2", 0, &err) < 0);
	assert_int_equal(err.code, ATTACH_CODE_IO);
	assert_int_equal(w->link_count, 1); // undone
	attach_health(w->a, &h);
	assert_non_null(strstr(h.journal_problem, "No space"));
	assert_int_equal(attach_detach(w->a, &key), 0);
	assert_int_equal(w->link_count, 0);
	// The clock brings the next try; nothing is written before.
	assert_true(attach_deadline(w->a) <= w->now_ns + 1);
	sync_error = 0;
	w->now_ns = attach_deadline(w->a);
	attach_tick(w->a, w->now_ns);
	attach_health(w->a, &h);
	assert_string_equal(h.journal_problem, "");
	assert_int_equal(attach_deadline(w->a), UINT64_MAX);
	attach_world_crash();
	attach_world_open("");
	assert_null(attach_by_port(w->a, ATTACH_ID_MIN));
}

static void test_settings(void **state)
{
	struct ipprefix many[IPAM_RANGES_MAX + 1] = {0};
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("10.244.1.0/24");
	assert_int_equal(attach_set_ranges(w->a, many, ARRAY_LEN(many), &err), -EINVAL);
	attach_set_mtu(w->a, 1400);
	assert_int_equal(attach_world_add("c1")->mtu, 1400);
	assert_memory_equal(attach_gateway_mac(w->a).b, w->conf.gateway_mac.b, 6);
	assert_int_equal(ipam_range_count(attach_ipam(w->a)), 1);
}

static void test_open_fails(void **state)
{
	struct err err = ERR_INIT;
	struct attach *a = NULL;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/journal", w->state);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_true(attach_open(&w->conf, &a, &err) < 0);
	assert_null(a);
	assert_non_null(strstr(err.text, "journal"));
	attach_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_all_ids_in_use, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_journal_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_settings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_open_fails, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
