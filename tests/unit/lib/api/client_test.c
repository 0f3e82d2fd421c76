// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/client.h"
#include "api/line.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "unit/lib/tmpdir.h"

#define HELLO_OK "{\"ok\":true,\"version\":1,\"weftd\":\"t\"}"

// A daemon that answers the n-th line it gets with the n-th text, then does what `then` says.
struct fake {
	const char *replies[4]; // raw bytes; NULL ends; sent with a newline unless raw
	bool raw;
	int fd_with_last; // a descriptor that rides along, -1 = none
	enum { THEN_HANG_UP, THEN_WAIT } then;
	int listener;
	pthread_t thread;
	char got[4][256];
};

static void answer(struct fake *f, int sock, size_t i)
{
	const char *text = f->replies[i];
	bool last = i + 1 == ARRAY_LEN(f->replies) || !f->replies[i + 1];

	if (f->raw)
		assert_int_equal(fdio_write_all(sock, text, strlen(text)), 0);
	else
		line_send(sock, text, strlen(text), last ? f->fd_with_last : -1,
			  clock_deadline_ns(5000));
}

static void serve(struct fake *f, int sock)
{
	struct line_reader r;
	const char *line;
	size_t len;

	line_reader_init(&r);
	for (size_t i = 0; i < ARRAY_LEN(f->replies) && f->replies[i]; i++) {
		while (!(line = line_reader_next(&r, &len)))
			if (line_reader_fill(&r, sock) <= 0)
				goto out;
		snprintf(f->got[i], sizeof(f->got[i]), "%s", line);
		answer(f, sock, i);
	}
	// Until the client has hung up.
	while (f->then == THEN_WAIT && line_reader_fill(&r, sock) > 0)
		while (line_reader_next(&r, &len))
			continue;
out:
	line_reader_fini(&r);
}

static void *run_fake(void *arg)
{
	struct fake *f = arg;
	int sock = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);

	if (sock >= 0) {
		serve(f, sock);
		close(sock);
	}
	return NULL;
}

static void fake_start(struct fake *f)
{
	f->listener = fdio_listen_unix("weftd.sock", 4);
	assert_true(f->listener >= 0);
	assert_int_equal(pthread_create(&f->thread, NULL, run_fake, f), 0);
}

static void fake_stop(struct fake *f)
{
	assert_int_equal(pthread_join(f->thread, NULL), 0);
	close(f->listener);
	memset(f->got, 0, sizeof(f->got));
}

static uint64_t soon(void)
{
	return clock_deadline_ns(10000);
}

static void test_call(void **state)
{
	struct fake f = {.replies = {HELLO_OK, "{\"ok\":true,\"n\":7}"},
			 .then = THEN_WAIT,
			 .fd_with_last = open("/dev/null", O_RDONLY | O_CLOEXEC)};
	struct client *c = NULL;
	struct jdoc *reply = NULL;
	struct err err = ERR_INIT;
	int64_t n = 0;

	(void)state;
	fake_start(&f);
	assert_int_equal(client_open(".", "test", soon(), &c, &err), 0);
	assert_string_equal(f.got[0], "{\"type\":\"hello\",\"min\":1,\"max\":1,\"who\":\"test\"}");
	assert_int_equal(client_take_fd(c), -1);
	assert_int_equal(client_call(c, "{\"type\":\"get\"}", soon(), &reply, &err), 0);
	assert_string_equal(f.got[1], "{\"type\":\"get\"}");
	struct jval root = jdoc_root(reply);
	assert_int_equal(jget_int(&root, "n", JREQUIRED, (struct jrange){7, 7}, &n, &err), 0);
	int fd = client_take_fd(c);
	assert_true(fd >= 0);
	assert_int_equal(client_take_fd(c), -1);
	close(fd);
	close(f.fd_with_last);
	jdoc_free(reply);
	client_closep(&c);
	assert_null(c);
	client_close(NULL);
	fake_stop(&f);
}

// What the daemon says to the second request, and what comes of it.
static void test_replies(void **state)
{
	static const struct {
		const char *reply;
		int want;
		unsigned code;
		const char *text;
	} rows[] = {
		{"{\"ok\":false,\"error\":{\"code\":11,\"msg\":\"busy\",\"details\":\"later\"}}",
		 -EREMOTEIO, 11, "busy: later"},
		{"{\"ok\":false,\"error\":{\"code\":7,\"msg\":\"bad\"}}", -EREMOTEIO, 7, "bad"},
		{"{\"ok\":false,\"error\":{\"code\":7,\"msg\":\"bad\",\"details\":\"\"}}",
		 -EREMOTEIO, 7, "bad"},
		{"{\"ok\":false}", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: $.error: missing"},
		{"{\"ok\":false,\"error\":{\"code\":-1,\"msg\":\"x\"}}", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: $.error.code: expected 0..4294967295, got -1"},
		{"{\"ok\":false,\"error\":{\"code\":1}}", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: $.error.msg: missing"},
		{"{}", -EPROTO, 0, "reply of weftd at `./weftd.sock`: $.ok: missing"},
		{"{\"ok\":1}", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: $.ok: expected a boolean, got 1"},
		{"[]", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: $: expected an object, got an array"},
		{"", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: JSON text ends too early, after 0 bytes"},
		{"junk", -EPROTO, 0,
		 "reply of weftd at `./weftd.sock`: JSON text, byte 0: unexpected character"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fake f = {.replies = {HELLO_OK, rows[i].reply}, .fd_with_last = -1};
		struct client *c = NULL;
		struct jdoc *reply = NULL;
		struct err err = ERR_INIT;
		fake_start(&f);
		assert_int_equal(client_open(".", "t", soon(), &c, NULL), 0);
		int r = client_call(c, "{}", soon(), &reply, &err);
		if (r != rows[i].want || strcmp(err.text, rows[i].text) != 0)
			fail_msg("%s: %d `%s`", rows[i].reply, r, err.text);
		assert_int_equal(err.code, rows[i].code);
		assert_null(reply);
		client_close(c);
		fake_stop(&f);
	}
}

static void test_hello(void **state)
{
	static const struct {
		const char *reply;
		bool raw;
		int want;
	} rows[] = {
		{"{\"ok\":true,\"version\":2}", false, -EPROTO},
		{"{\"ok\":true,\"version\":\"1\"}", false, -EPROTO},
		{"{\"ok\":true}", false, -EPROTO},
		{"{\"ok\":false,\"error\":{\"code\":1,\"msg\":\"old\"}}", false, -EREMOTEIO},
		// Half a line, then it hangs up.
		{"{\"ok\":tr", true, -ECONNRESET},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fake f = {
			.replies = {rows[i].reply}, .raw = rows[i].raw, .fd_with_last = -1};
		struct client *c = NULL;
		struct err err = ERR_INIT;
		fake_start(&f);
		int r = client_open(".", "t", soon(), &c, &err);
		if (r != rows[i].want)
			fail_msg("%s: %d %s", rows[i].reply, r, err.text);
		assert_null(c);
		assert_true(err.text[0] != '\0');
		fake_stop(&f);
	}
}

static void test_no_daemon(void **state)
{
	char longest[200];
	struct client *c = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(client_open(".", "t", soon(), &c, &err), -ECONNREFUSED);
	assert_string_equal(err.text, "connect to weftd at `./weftd.sock`: Connection refused");
	assert_int_equal(client_open("absent", "t", soon(), &c, &err), -ECONNREFUSED);
	tmpdir_write("file", "");
	assert_int_equal(client_open("file", "t", soon(), &c, &err), -ECONNREFUSED);
	// A socket file whose daemon is gone.
	close(fdio_listen_unix("weftd.sock", 1));
	assert_int_equal(client_open(".", "t", soon(), &c, &err), -ECONNREFUSED);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(client_open(longest, "t", soon(), &c, &err), -ENAMETOOLONG);
	assert_null(c);
}

static void test_silent_daemon(void **state)
{
	struct client *c = NULL;
	struct err err = ERR_INIT;
	int l = fdio_listen_unix("weftd.sock", 1);

	(void)state;
	// Nobody accepts: the connection stands, the hello is never answered.
	assert_int_equal(client_open(".", "t", clock_deadline_ns(30), &c, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "wait for weftd at `./weftd.sock`: Connection timed out");
	assert_int_equal(client_open(".", "t", 0, &c, &err), -ETIMEDOUT);
	assert_null(c);
	close(l);
}

static void test_hang_up_between_calls(void **state)
{
	struct fake f = {.replies = {HELLO_OK}, .fd_with_last = -1};
	struct client *c = NULL;
	struct jdoc *reply = NULL;
	struct err err = ERR_INIT;

	(void)state;
	fake_start(&f);
	assert_int_equal(client_open(".", "t", soon(), &c, &err), 0);
	fake_stop(&f);
	assert_int_equal(client_call(c, "{}", soon(), &reply, &err), -ECONNRESET);
	assert_non_null(strstr(err.text, "./weftd.sock"));
	client_close(c);
}

// A daemon that says why and hangs up before it has read all: the reason is still heard.
static void test_last_words(void **state)
{
	struct fake f = {.replies = {HELLO_OK "\n{\"ok\":false,\"error\":{\"code\":50,\"msg\":"
					      "\"too many\"}}\n"},
			 .raw = true,
			 .fd_with_last = -1};
	struct client *c = NULL;
	struct jdoc *reply = NULL;
	struct err err = ERR_INIT;

	(void)state;
	fake_start(&f);
	assert_int_equal(client_open(".", "t", soon(), &c, &err), 0);
	fake_stop(&f);
	assert_int_equal(client_call(c, "{}", soon(), &reply, &err), -EREMOTEIO);
	assert_string_equal(err.text, "too many");
	client_close(c);
}

static void test_watch(void **state)
{
	struct fake f = {.replies = {HELLO_OK "\n",
				     "{\"ok\":true,\"items\":[]}\n{\"event\":\"added\"}\n"
				     "{\"event\":\"removed\"}\n"},
			 .raw = true,
			 .fd_with_last = -1};
	struct client *c = NULL;
	struct jdoc *line = NULL;
	struct err err = ERR_INIT;
	const char *event;

	(void)state;
	fake_start(&f);
	assert_int_equal(client_open(".", "t", soon(), &c, &err), 0);
	assert_int_equal(client_call(c, "{}", soon(), &line, &err), 0);
	jdoc_freep(&line);
	static const char *const want[] = {"added", "removed"};
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(client_next(c, soon(), &line, &err), 0);
		struct jval root = jdoc_root(line);
		assert_int_equal(jget_string(&root, "event", JREQUIRED, &event, &err), 0);
		assert_string_equal(event, want[i]);
		jdoc_freep(&line);
	}
	assert_int_equal(client_next(c, soon(), &line, &err), -ECONNRESET);
	client_close(c);
	fake_stop(&f);
}

static void test_bad_request(void **state)
{
	struct fake f = {.replies = {HELLO_OK}, .then = THEN_WAIT, .fd_with_last = -1};
	struct client *c = NULL;
	struct jdoc *reply = NULL;
	struct err err = ERR_INIT;

	(void)state;
	fake_start(&f);
	assert_int_equal(client_open(".", "t", soon(), &c, &err), 0);
	assert_int_equal(client_call(c, "{\n}", soon(), &reply, &err), -EINVAL);
	client_close(c);
	fake_stop(&f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_call),       TEST(test_replies),       TEST(test_hello),
		TEST(test_no_daemon),  TEST(test_silent_daemon), TEST(test_hang_up_between_calls),
		TEST(test_last_words), TEST(test_watch),         TEST(test_bad_request),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
