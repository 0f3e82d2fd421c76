// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/sync/daemon.h"

#include "sync/conn.h"

struct peer {
	struct event_base *base;
	struct conn *conn;
	unsigned ups, lost, failed, lines;
	char line[256], why[128];
	bool drops_in_up;
	unsigned wanted; // for the checks below
};

static void on_up(void *arg)
{
	struct peer *p = arg;

	p->ups++;
	if (p->drops_in_up)
		conn_drop(p->conn, "not today");
}

static void on_line(void *arg, const char *text, size_t len)
{
	struct peer *p = arg;

	p->lines++;
	assert_int_equal(strlen(text), len);
	snprintf(p->line, sizeof(p->line), "%s", text);
}

static void on_down(void *arg, bool was_up, const char *why)
{
	struct peer *p = arg;

	*(was_up ? &p->lost : &p->failed) += 1;
	snprintf(p->why, sizeof(p->why), "%s", why);
}

static bool has_ups(void *arg)
{
	struct peer *p = arg;

	return p->ups >= p->wanted;
}

static bool has_lost(void *arg)
{
	struct peer *p = arg;

	return p->lost >= p->wanted;
}

static bool has_failed(void *arg)
{
	struct peer *p = arg;

	return p->failed >= p->wanted;
}

static bool has_lines(void *arg)
{
	struct peer *p = arg;

	return p->lines >= p->wanted;
}

static void expect(struct peer *p, bool (*check)(void *), unsigned wanted)
{
	p->wanted = wanted;
	loop_until(p->base, check, p);
}

static const struct conn_hooks no_hooks = {.up = on_up, .line = on_line, .down = on_down};

static void test_life(void **state)
{
	struct peer p = {.base = event_base_new()};
	struct conn_hooks hooks = no_hooks;
	struct daemon d;

	(void)state;
	hooks.arg = &p;
	daemon_init(&d, p.base);
	assert_int_equal(conn_new(p.base, "weftd.sock", &hooks, &p.conn), 0);
	conn_send(p.conn, "lost", 4); // no connection: nothing happens
	conn_start(p.conn);
	expect(&p, has_failed, 2);
	assert_string_equal(p.why, "No such file or directory");
	assert_false(conn_is_up(p.conn));
	daemon_start(&d);
	expect(&p, has_ups, 1);
	assert_true(conn_is_up(p.conn));
	conn_send(p.conn, "{\"type\":\"hello\"}", 16);
	expect(&p, has_lines, 1);
	assert_non_null(strstr(p.line, "\"ok\":true"));
	daemon_hang_up(&d);
	expect(&p, has_lost, 1);
	assert_string_equal(p.why, "it hung up");
	expect(&p, has_ups, 2);
	conn_settled(p.conn);
	daemon_stop(&d);
	expect(&p, has_lost, 2);
	daemon_start(&d);
	expect(&p, has_ups, 3);
	conn_free(p.conn);
	conn_free(NULL);
	daemon_fini(&d);
	event_base_free(p.base);
}

static void test_drop(void **state)
{
	struct peer p = {.base = event_base_new(), .drops_in_up = true};
	struct conn_hooks hooks = no_hooks;
	struct daemon d;

	(void)state;
	hooks.arg = &p;
	daemon_init(&d, p.base);
	daemon_start(&d);
	assert_int_equal(conn_new(p.base, "weftd.sock", &hooks, &p.conn), 0);
	conn_start(p.conn);
	expect(&p, has_lost, 2);
	assert_string_equal(p.why, "not today");
	assert_int_equal(p.failed, 0);
	conn_free(p.conn);
	daemon_fini(&d);
	event_base_free(p.base);
}

// A daemon that does not read: what waits is bounded, then the connection is given up.
static void test_deaf_daemon(void **state)
{
	struct peer p = {.base = event_base_new()};
	struct conn_hooks hooks = no_hooks;
	int listen_fd = fdio_listen_unix("weftd.sock", 4);
	_free_ char *chunk = calloc(1, 1 << 20);

	(void)state;
	hooks.arg = &p;
	assert_true(listen_fd >= 0);
	assert_int_equal(conn_new(p.base, "weftd.sock", &hooks, &p.conn), 0);
	conn_start(p.conn);
	expect(&p, has_ups, 1);
	memset(chunk, 'x', 1 << 20);
	for (size_t i = 0; i < 2 * CONN_OUT_MAX / (1 << 20); i++)
		conn_send(p.conn, chunk, 1 << 20);
	assert_false(conn_is_up(p.conn));
	expect(&p, has_lost, 1);
	assert_string_equal(p.why, "it does not read");
	conn_free(p.conn);
	close(listen_fd);
	event_base_free(p.base);
}

// A line without an end.
static void test_endless_line(void **state)
{
	struct peer p = {.base = event_base_new()};
	struct conn_hooks hooks = no_hooks;
	_free_ char *chunk = calloc(1, 1 << 16);
	struct daemon d;

	(void)state;
	hooks.arg = &p;
	memset(chunk, 'x', 1 << 16);
	daemon_init(&d, p.base);
	daemon_start(&d);
	assert_int_equal(conn_new(p.base, "weftd.sock", &hooks, &p.conn), 0);
	conn_start(p.conn);
	expect(&p, has_ups, 1);
	for (unsigned i = 0; i < 1000 && p.lost == 0; i++) {
		if (d.fd >= 0)
			(void)!send(d.fd, chunk, 1 << 16, MSG_NOSIGNAL | MSG_DONTWAIT);
		event_base_loop(p.base, EVLOOP_NONBLOCK);
	}
	expect(&p, has_lost, 1);
	assert_string_equal(p.why, "Message too long");
	conn_free(p.conn);
	daemon_fini(&d);
	event_base_free(p.base);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_life),
		TEST(test_drop),
		TEST(test_deaf_daemon),
		TEST(test_endless_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
