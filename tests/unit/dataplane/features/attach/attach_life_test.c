// SPDX-License-Identifier: Apache-2.0
// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
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

// A reservation of a Kubernetes pod whose link is made.
static const struct attachment *pod_reserved(const char *id)
{
	struct attach_request rq = attach_world_request(id);
	const struct attachment *at;

	rq.pod_namespace = "default";
	rq.pod_name = id;
	assert_int_equal(attach_reserve(w->a, &rq, &at, NULL), 0);
	attach_world_add_link(at->ifindex, at->host_name, NULL);
	return at;
}

static uint64_t used(void)
{
	struct ipam_usage u;

	ipam_usage(attach_ipam(w->a), 0, &u);
	return u.used;
}

static void test_wait_until_known(void **state)
{
	const struct attachment *at;

	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	at = pod_reserved("p1");
	assert_int_equal(attach_world_activate("p1", 3000, NULL), ATTACH_WAITS);
	assert_int_equal(at->state, ATTACH_WAITING);
	assert_false(atomic_load(&port_get(at->port_id)->active)); // nothing passes before
	attach_pods_changed(w->a);
	assert_int_equal(w->done_calls, 0);
	w->pods_known = true;
	attach_pods_changed(w->a);
	assert_int_equal(w->done_calls, 1);
	assert_int_equal(w->done_code, 0);
	assert_int_equal(at->state, ATTACH_ACTIVE);
	assert_true(atomic_load(&port_get(at->port_id)->active));
	attach_owner_gone(w->a, 1); // the connection of an active one may go
	assert_int_equal(at->state, ATTACH_ACTIVE);
}

static void test_wait_times_out(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	(void)pod_reserved("p1");
	assert_int_equal(attach_world_activate("p1", 3000, &err), ATTACH_WAITS);
	assert_int_equal(attach_deadline(w->a), w->now_ns + 3000 * NS_PER_MS);
	w->now_ns += 3000 * NS_PER_MS - 1;
	attach_tick(w->a, w->now_ns);
	assert_int_equal(w->done_calls, 0);
	attach_tick(w->a, ++w->now_ns);
	assert_int_equal(w->done_calls, 1);
	assert_int_equal(w->done_code, ATTACH_CODE_RETRY);
	assert_int_equal(w->link_count, 0);
	assert_int_equal(used(), 0);
	assert_int_equal(w->closed, 1);
}

static void test_wait_bounds(void **state)
{
	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	(void)pod_reserved("p1");
	assert_int_equal(attach_world_activate("p1", UINT32_MAX, NULL), ATTACH_WAITS);
	assert_int_equal(attach_deadline(w->a), w->now_ns + ATTACH_WAIT_MS_MAX * NS_PER_MS);
}

// Who asks is gone: nothing is left, and nobody is called.
static void test_owner_gone(void **state)
{
	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	(void)pod_reserved("p1");
	(void)pod_reserved("p2");
	assert_int_equal(attach_world_activate("p1", 0, NULL), ATTACH_WAITS);
	attach_owner_gone(w->a, 2);
	assert_int_equal(w->link_count, 2);
	attach_owner_gone(w->a, 1);
	assert_int_equal(w->link_count, 0);
	assert_int_equal(w->done_calls, 0);
	assert_int_equal(used(), 0);
	assert_int_equal(w->removed, 2);
}

static void test_without_pod_does_not_wait(void **state)
{
	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	assert_int_equal(attach_world_add("c1")->state, ATTACH_ACTIVE);
}

static void test_activate_refused(void **state)
{
	const struct attachment *at;
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("10.244.1.0/24");
	assert_true(attach_world_activate("never", 0, &err) < 0);
	assert_int_equal(err.code, ATTACH_CODE_UNKNOWN);
	// No link, or one of that index with another name: the reservation is over.
	at = attach_world_reserve("c1", NULL);
	attach_world_add_link(at->ifindex, "other", NULL);
	assert_true(attach_world_activate("c1", 0, &err) < 0);
	assert_int_equal(err.code, ATTACH_CODE_LINK);
	assert_int_equal(used(), 0);
	assert_true(attach_world_has_link("other")); // not ours to delete
	attach_world_del_link("other");
	// The port cannot be opened.
	at = attach_world_reserve("c2", NULL);
	attach_world_add_link(at->ifindex, at->host_name, NULL);
	w->open_error = ENOBUFS;
	assert_true(attach_world_activate("c2", 0, &err) < 0);
	assert_int_equal(w->link_count, 0);
	assert_int_equal(used(), 0);
	// Somebody else's reservation, and one that is active already.
	(void)attach_world_add("c3");
	assert_true(attach_world_activate("c3", 0, &err) < 0);
}

static void test_reservation_expires(void **state)
{
	(void)state;
	attach_world_open("10.244.1.0/24");
	(void)attach_world_reserve("c1", NULL);
	w->now_ns += ATTACH_RESERVED_NS;
	attach_tick(w->a, w->now_ns);
	assert_int_equal(used(), 0);
	assert_int_equal(attach_deadline(w->a), UINT64_MAX);
}

static void test_link_gone(void **state)
{
	const struct attachment *at;
	struct attach_key key = attach_world_key("c1");

	(void)state;
	attach_world_open("10.244.1.0/24");
	at = attach_world_add("c1");
	// An event that is older than the link says nothing.
	attach_link_gone(w->a, at->ifindex);
	assert_int_equal(at->state, ATTACH_ACTIVE);
	attach_link_gone(w->a, 0);
	attach_link_gone(w->a, ATTACH_IFINDEX_BASE);
	attach_link_gone(w->a, UINT32_MAX);
	attach_world_del_link(at->host_name);
	attach_link_gone(w->a, at->ifindex);
	assert_int_equal(at->state, ATTACH_GONE);
	assert_int_equal(w->closed, 1); // the port at once, the address not
	assert_int_equal(used(), 1);
	w->now_ns += ATTACH_GONE_NS - 1;
	attach_tick(w->a, w->now_ns);
	assert_int_equal(used(), 1);
	attach_tick(w->a, ++w->now_ns);
	assert_int_equal(used(), 0);
	assert_int_equal(attach_detach(w->a, &key), ATTACH_NOT_FOUND);
}

static void test_link_gone_while_waiting(void **state)
{
	const struct attachment *at;

	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	at = pod_reserved("p1");
	assert_int_equal(attach_world_activate("p1", 0, NULL), ATTACH_WAITS);
	attach_world_del_link(at->host_name);
	attach_resync(w->a);
	assert_int_equal(w->done_code, ATTACH_CODE_LINK);
	assert_int_equal(used(), 0);
}

static void test_detach_while_waiting(void **state)
{
	struct attach_key key = attach_world_key("p1");

	(void)state;
	w->conf.standalone = false;
	attach_world_open("10.244.1.0/24");
	(void)pod_reserved("p1");
	assert_int_equal(attach_world_activate("p1", 0, NULL), ATTACH_WAITS);
	assert_int_equal(attach_detach(w->a, &key), 0);
	assert_int_equal(w->done_code, ATTACH_CODE_RETRY);
	assert_int_equal(w->link_count, 0);
}

// ---- gc ----

static bool is_listed(const struct attachment *at, void *arg)
{
	(void)arg;
	return strncmp(at->container_id, "valid", 5) == 0;
}

static void note(const struct attachment *at, void *arg)
{
	char *names = arg;

	strncat(names, at->container_id, 16);
	strncat(names, " ", 2);
}

static void kill_link(const char *id)
{
	for (uint16_t i = 0; i < PORT_MAX; i++) {
		const struct attachment *at = attach_by_port(w->a, i);

		if (at && strcmp(at->container_id, id) == 0)
			attach_world_del_link(at->host_name);
	}
}

static void make_gc_world(void)
{
	attach_world_open("10.244.1.0/24");
	(void)attach_world_add("valid-live");
	(void)attach_world_add("valid-dead");
	(void)attach_world_add("stale-live");
	(void)attach_world_add("stale-dead");
	(void)attach_world_reserve("reserved", NULL);
	kill_link("valid-dead");
	kill_link("stale-dead");
}

static void test_gc_list(void **state)
{
	char names[128] = "";
	struct attach_gc gc = {.network = "weft",
			       .has_list = true,
			       .is_valid = is_listed,
			       .released = note,
			       .arg = names};

	(void)state;
	make_gc_world();
	attach_gc(w->a, &gc);
	assert_string_equal(names, "stale-dead ");
	// The namespace of the unlisted one goes a moment later: no minute is waited then.
	kill_link("stale-live");
	attach_resync(w->a);
	assert_int_equal(used(), 3);
	gc.network = "other";
	attach_gc(w->a, &gc);
	assert_string_equal(names, "stale-dead ");
}

static void test_gc_without_information(void **state)
{
	char names[128] = "";
	struct attach_gc gc = {
		.network = "weft", .is_valid = is_listed, .released = note, .arg = names};

	(void)state;
	make_gc_world();
	attach_gc(w->a, &gc);
	assert_string_equal(names, "valid-dead stale-dead ");
	kill_link("stale-live");
	attach_resync(w->a);
	assert_int_equal(used(), 3); // unlisted it was not
}

// ---- check ----

static void test_check(void **state)
{
	static const struct {
		const char *ips;
		unsigned code;
		const char *text;
	} cases[] = {
		{"", 0, ""},
		{"10.244.1.2 fd00:10:1::2", 0, ""},
		{"fd00:10:1::2 10.244.1.2", 0, ""},
		{"10.244.1.2", 103, "missing"},
		{"10.244.1.2 fd00:10:1::3", 103, "fd00:10:1::3 is not its address"},
	};
	struct attach_check c = {.key = attach_world_key("c1")};
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("10.244.1.0/24 fd00:10:1::/64");
	(void)attach_world_add("c1");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char copy[128], *save = NULL;

		err = ERR_INIT;
		c.addr_count = 0;
		snprintf(copy, sizeof(copy), "%s", cases[i].ips);
		for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
			assert_int_equal(ipaddr_parse(p, &c.addrs[c.addr_count++]), 0);
		assert_int_equal(attach_check(w->a, &c, &err) < 0, cases[i].code != 0);
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.text, cases[i].text));
	}
	c.key.container_id = "unknown";
	assert_true(attach_check(w->a, &c, &err) < 0);
	assert_int_equal(err.code, ATTACH_CODE_UNKNOWN);
}

static void test_check_takes_mac_over(void **state)
{
	struct attach_check c = {
		.key = attach_world_key("c1"), .has_mac = true, .mac = {{2, 0, 0, 0, 0, 7}}};
	const struct attachment *at;
	struct err err = ERR_INIT;

	(void)state;
	attach_world_open("10.244.1.0/24");
	at = attach_world_add("c1");
	assert_int_equal(attach_check(w->a, &c, NULL), 0);
	assert_memory_equal(at->mac.b, c.mac.b, 6);
	assert_memory_equal(port_get(at->port_id)->mac.b, c.mac.b, 6);

	// What no pod can have is not taken over: packets to the pod would be lost.
	c.mac = (struct macaddr){{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	assert_true(attach_check(w->a, &c, &err) < 0);
	c.mac = (struct macaddr){{2, 0, 0, 0, 0, 7}};
	assert_memory_equal(at->mac.b, c.mac.b, 6);
	attach_world_crash();
	attach_world_open("");
	assert_memory_equal(attach_by_port(w->a, ATTACH_ID_MIN)->mac.b, c.mac.b, 6);
	attach_world_del_link(attach_by_port(w->a, ATTACH_ID_MIN)->host_name);
	assert_true(attach_check(w->a, &c, &err) < 0);
	assert_int_equal(err.code, ATTACH_CODE_MISMATCH);
	attach_resync(w->a);
	assert_true(attach_check(w->a, &c, &err) < 0);
	assert_non_null(strstr(err.text, "gone"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wait_until_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wait_times_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wait_bounds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_owner_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_pod_does_not_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_activate_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reservation_expires, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_link_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_link_gone_while_waiting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_detach_while_waiting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gc_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gc_without_information, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_check, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_check_takes_mac_over, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
