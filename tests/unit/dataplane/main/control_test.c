// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "harness/control_world.h"

static struct control_world world;

static void expect(struct control_client *c, const char *request, const char *want)
{
	const char *reply = control_client_call(c, request);

	if (!reply || !strstr(reply, want))
		fail_msg("%s\n -> %s\nwanted %s", request, reply ? reply : "nothing", want);
}

static int set_up(void **state)
{
	struct control_client *c = calloc(1, sizeof(*c));

	assert_int_equal(control_client_open(&world, c), 0);
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct control_client *c = *state;

	control_client_close(c);
	assert_int_equal(server_conns(world.d->server), 0);
	free(c);
	return 0;
}

static void test_hello(void **state)
{
	struct control_client *c = *state;

	expect(c, "{\"type\":\"hello\",\"min\":1,\"max\":9,\"who\":\"test\",\"id\":-7}",
	       "{\"ok\":true,\"id\":-7,\"version\":1,\"weftd\":\"");
	expect(c, "{\"type\":\"hello\",\"min\":1,\"max\":1,\"who\":\"test\"}",
	       "\"code\":7,\"msg\":\"hello was said already\"");
	assert_false(control_client_is_closed(c));
}

// Whoever does not begin with a hello that fits is told so and let go.
static void test_no_hello(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"ready\"}",
		"{\"type\":\"hello\",\"min\":2,\"max\":3,\"who\":\"test\"}",
		"{\"type\":\"hello\",\"min\":0,\"max\":0,\"who\":\"test\"}",
		"{\"type\":\"hello\"}",
		"{\"type\":\"nonsense\"}",
		"GET / HTTP/1.1",
		"",
		"[]",
		"{}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct control_client c;

		assert_int_equal(control_client_open(&world, &c), 0);
		expect(&c, lines[i], "{\"ok\":false,\"error\":{\"code\":");
		assert_true(control_client_is_closed(&c));
		control_client_close(&c);
	}
}

static void test_garbage_after_hello(void **state)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{"x", "\"code\":6"},
		{"[1]", "\"code\":6"},
		{"{\"type\":7}", "\"code\":7"},
		{"{\"type\":\"no\",\"id\":5}", "{\"ok\":false,\"id\":5,\"error\":{\"code\":7"},
		{"{\"type\":\"attach\"}", "\"code\":7"},
		{"{\"type\":\"get\",\"object\":\"no\"}", "there is no `no`"},
		{"{\"type\":\"get\",\"object\":\"pod\",\"after\":-1}", "after"},
		{"{\"type\":\"watch\",\"object\":\"flow\"}", "only pod"},
		{"{\"type\":\"end-sync\"}", "without begin-sync"},
		{"{\"type\":\"report\"}", "synced"},
		{"{\"type\":\"report\",\"synced\":true,\"problems\":[{}]}", "what"},
		{"{\"type\":\"ready\",\"id\":\"x\"}", "\"code\":7"},
		{"\xff\xff", "\"code\":6"},
	};
	struct control_client *c = *state;

	control_client_hello(c, "test");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect(c, cases[i].line, cases[i].want);
	expect(c, "{\"type\":\"ready\"}", "\"ready\":true");
}

static void test_many_in_one_piece(void **state)
{
	struct control_client *c = *state;
	_cleanup_(buf_fini) struct buf b = BUF_INIT(1 << 20);
	const char *line;
	int n = 0;

	control_client_hello(c, "test");
	for (int i = 0; i < 500; i++)
		assert_int_equal(buf_addf(&b, "{\"type\":\"ready\",\"id\":%d}\n", i), 0);
	control_client_send(c, b.data, b.len);
	while ((line = control_client_line(c))) {
		char want[64];

		snprintf(want, sizeof(want), "{\"ok\":true,\"id\":%d,", n++);
		assert_int_equal(strncmp(line, want, strlen(want)), 0); // in order
		control_world_run(&world);
	}
	assert_int_equal(n, 500);
}

static void test_byte_by_byte(void **state)
{
	static const char text[] = "{\"type\":\"ready\"}\n";
	struct control_client *c = *state;

	control_client_hello(c, "test");
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		assert_null(control_client_line(c));
		control_client_send(c, text + i, 1);
	}
	assert_non_null(control_client_line(c));
}

static void test_line_without_end(void **state)
{
	_free_ char *big = malloc(2 << 20);
	struct control_client *c = *state;
	const char *line;

	memset(big, 'x', 2 << 20);
	control_client_hello(c, "test");
	control_client_send(c, big, 2 << 20);
	line = control_client_line(c);
	assert_non_null(line);
	assert_non_null(strstr(line, "longer than 1 MiB"));
	assert_true(control_client_is_closed(c));
}

// A client that sends but does not read: its requests wait, the daemon's memory does not grow.
static void test_slow_reader(void **state)
{
	static const char text[] = "{\"type\":\"get\",\"object\":\"flow\"}\n";
	struct control_client *c = *state;
	unsigned replies = 0, sent = 0;
	int error = 0;

	control_client_hello(c, "test");
	for (; sent < 3000; sent++) {
		if (send(c->sock, text, sizeof(text) - 1, MSG_NOSIGNAL) < 0) {
			error = errno;
			break;
		}
		(void)event_base_loop(world.d->base, EVLOOP_NONBLOCK);
	}
	assert_int_equal(error, EAGAIN); // pushed back
	assert_false(control_client_is_closed(c));
	while (control_client_line(c)) {
		replies++;
		(void)event_base_loop(world.d->base, EVLOOP_NONBLOCK);
	}
	assert_true(replies > 0 && replies <= sent);
}

#define KEY "\"network\":\"weft\",\"container_id\":\"c1\",\"ifname\":\"eth0\""

static unsigned count_pods(void)
{
	unsigned n = 0;

	for (uint16_t id = 0; id < PORT_MAX; id++)
		n += attach_by_port(world.d->attach, id) != NULL;
	return n;
}

static void test_reservation_dies_with_its_connection(void **state)
{
	struct control_client *c = *state;
	struct control_client other;

	control_client_hello(c, "weft");
	expect(c, "{\"type\":\"attach\"," KEY "}", "\"ips\":[\"10.244.1.");
	assert_int_equal(count_pods(), 1);
	assert_int_equal(control_client_open(&world, &other), 0);
	control_client_hello(&other, "weft");
	expect(&other, "{\"type\":\"activate\"," KEY "}", "\"code\":3");
	expect(&other, "{\"type\":\"attach\"," KEY "}", "\"code\":11");
	control_client_close(&other);
	assert_int_equal(count_pods(), 1);
	expect(c, "{\"type\":\"activate\"," KEY "}", "\"code\":102"); // no host end was made
	assert_int_equal(count_pods(), 0);
	expect(c, "{\"type\":\"attach\"," KEY "}", "\"ips\":[\"10.244.1.");
	close(c->sock);
	c->sock = -1;
	control_world_run(&world);
	assert_int_equal(server_conns(world.d->server), 0);
	assert_int_equal(count_pods(), 0);
}

static void test_watch(void **state)
{
	struct control_client *c = *state, other;

	control_client_hello(c, "weftctl");
	expect(c, "{\"type\":\"watch\",\"object\":\"pod\"}", "\"items\":[]");
	assert_int_equal(control_client_open(&world, &other), 0);
	control_client_hello(&other, "weft");
	(void)control_client_call(&other, "{\"type\":\"attach\"," KEY "}");
	assert_non_null(strstr(control_client_line(c), "{\"event\":\"added\",\"item\":{"));
	control_client_close(&other);
	assert_non_null(strstr(control_client_line(c), "{\"event\":\"removed\",\"item\":{"));
	assert_null(control_client_line(c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hello, set_up, tear_down),
		cmocka_unit_test(test_no_hello),
		cmocka_unit_test_setup_teardown(test_garbage_after_hello, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_in_one_piece, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_byte_by_byte, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_line_without_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_slow_reader, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reservation_dies_with_its_connection, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_watch, set_up, tear_down),
	};
	int r;

	log_set_fd(open("/dev/null", O_WRONLY));
	if (control_world_open(&world, true) < 0) {
		printf("1..1\nneeds root\nnot ok 1 # SKIP control\n");
		return 0;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	control_world_close(&world);
	return r;
}
