// SPDX-License-Identifier: Apache-2.0
// wrap: poll
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "json/jget.h"

LOG_MODULE("test");

static int out[2] = {-1, -1}; // pipe or socket pair that the log writes into
static char line[8192];
static bool poll_lies; // says there is room

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!poll_lies)
		return __real_poll(fds, count, timeout);
	fds->revents = POLLOUT;
	return 1;
}

static void close_out(void)
{
	close(out[0]);
	close(out[1]);
}

static int setup(void **state)
{
	(void)state;
	if (pipe2(out, O_CLOEXEC) < 0)
		return -1;
	poll_lies = false;
	log_set_fd(out[1]);
	log_set_level(LOG_LEVEL_INFO);
	log_set_json(false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_fd(STDERR_FILENO);
	close_out();
	return 0;
}

// What was written since the last call; "" for nothing.
static const char *take(void)
{
	struct pollfd p = {.fd = out[0], .events = POLLIN};
	ssize_t n = 0;

	if (__real_poll(&p, 1, 0) > 0)
		n = read(out[0], line, sizeof(line) - 1);
	assert_true(n >= 0);
	line[n] = '\0';
	return line;
}

// The line behind its time stamp.
static const char *take_text(void)
{
	const char *s = take();
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ ";

	for (size_t i = 0; shape[i] != '\0'; i++)
		if (shape[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != shape[i])
			fail_msg("no time stamp: %s", s);
	return s + strlen(shape);
}

static struct jdoc *take_json(void)
{
	static const struct jlimits limits = {.bytes = 4096, .depth = 2};
	struct jdoc *doc = NULL;
	struct err err = ERR_INIT;
	const char *s = take();

	assert_int_equal(s[strlen(s) - 1], '\n');
	if (jdoc_parse(s, strlen(s), &limits, &doc, &err) < 0)
		fail_msg("%s: %s", err.text, s);
	return doc;
}

static void assert_key(const struct jdoc *doc, const char *key, const char *want)
{
	struct jval root = jdoc_root(doc);
	const char *got = NULL;
	struct err err = ERR_INIT;

	if (jget_string(&root, key, JREQUIRED, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(got, want);
}

static void test_text(void **state)
{
	(void)state;
	LOG_INFO("port opened", "port=%u name=%s", 3, "x y");
	assert_string_equal(take_text(), "INFO test: port opened port=3 name=x y\n");
	LOG_WARN("plain", "");
	assert_string_equal(take_text(), "WARN test: plain\n");
	LOG_ERR("bad", "err=%s", "a\nb\t\x1b[31m\x7f\xff\xc2\x9b\xc3\xa9\\\"");
	assert_string_equal(take_text(),
			    "ERR test: bad err=a\\x0ab\\x09\\x1b[31m\\x7f\\xff\\x9b\xc3\xa9\\\"\n");
}

static void test_level(void **state)
{
	(void)state;
	LOG_DEBUG("quiet", "");
	assert_string_equal(take(), "");
	log_set_level(LOG_LEVEL_DEBUG);
	LOG_DEBUG("loud", "");
	assert_string_equal(take_text(), "DEBUG test: loud\n");
	log_set_level(LOG_LEVEL_ERR);
	assert_false(log_enabled(LOG_LEVEL_WARN));
	assert_true(log_enabled(LOG_LEVEL_ERR));
	LOG_WARN("quiet", "");
	assert_string_equal(take(), "");
}

static void test_level_parse(void **state)
{
	static const struct {
		const char *text;
		int want; // -1: refused
	} rows[] = {
		{"err", LOG_LEVEL_ERR},
		{"error", LOG_LEVEL_ERR},
		{"warn", LOG_LEVEL_WARN},
		{"warning", LOG_LEVEL_WARN},
		{"info", LOG_LEVEL_INFO},
		{"debug", LOG_LEVEL_DEBUG},
		{"", -1},
		{"INFO", -1},
		{"infos", -1},
		{"in", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum log_level level = LOG_LEVEL_DEBUG;
		int r = log_level_parse(rows[i].text, &level);
		assert_int_equal(r, rows[i].want < 0 ? -EINVAL : 0);
		assert_int_equal(level, rows[i].want < 0 ? (int)LOG_LEVEL_DEBUG : rows[i].want);
	}
}

static void test_json(void **state)
{
	struct jval v;

	(void)state;
	log_set_json(true);
	LOG_INFO("port opened", "port=%u name=%s err=%s", 3, "x y", "k=v \"q\" \\ \x01\xff");
	struct jdoc *doc = take_json();
	assert_key(doc, "level", "info");
	assert_key(doc, "module", "test");
	assert_key(doc, "msg", "port opened");
	assert_key(doc, "port", "3");
	assert_key(doc, "name", "x y");
	// Keys come from the format only, so a value cannot make one.
	assert_key(doc, "err", "k=v \"q\" \\ \x01\xef\xbf\xbd");
	struct jval root = jdoc_root(doc);
	assert_int_equal(jget(&root, "k", JOPTIONAL, &v, NULL), 0);
	assert_true(jval_is_null(&v));
	assert_int_equal(jget(&root, "ts", JREQUIRED, &v, NULL), 0);
	jdoc_free(doc);
	LOG_WARN("no keys", "just %s", "words");
	doc = take_json();
	assert_key(doc, "detail", "just words");
	jdoc_free(doc);
	LOG_WARN("empty value", "a=%s b=%s", "", "");
	doc = take_json();
	assert_key(doc, "a", "");
	assert_key(doc, "b", "");
	jdoc_free(doc);
	LOG_WARN("none", "");
	doc = take_json();
	root = jdoc_root(doc);
	assert_false(jget_has(&root, "detail", 0));
	jdoc_free(doc);
}

// Every length around the limit, with bytes that grow when they are escaped.
static void test_long_lines(void **state)
{
	static const char *const fills[] = {"a", "\"", "\x01", "\xff", "\xc3\xa9", "\xe2\x82\xac"};
	char text[2200];

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(fills); f++) {
		for (size_t want = 300; want < sizeof(text) - 4; want += want < 1900 ? 97 : 1) {
			size_t len = 0;
			while (len < want) {
				memcpy(text + len, fills[f], strlen(fills[f]));
				len += strlen(fills[f]);
			}
			text[len] = '\0';
			log_set_json(false);
			LOG_INFO("long", "first=%s second=%s", text, "s");
			const char *s = take_text();
			assert_in_range(strlen(line), 300, 2048);
			assert_int_equal(s[strlen(s) - 1], '\n');
			assert_true(utf8_is_valid(s, strlen(s)));
			log_set_json(true);
			LOG_INFO("long", "first=%s second=%s", text, "s");
			struct jdoc *doc = take_json();
			assert_in_range(strlen(line), 300, 2048);
			jdoc_free(doc);
		}
	}
	memset(text, 'm', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_write(LOG_LEVEL_INFO, text, text, "key=%d", 1);
	struct jdoc *doc = take_json();
	assert_int_equal(strlen(line), 2048);
	jdoc_free(doc);
}

static void test_hostile_bytes_alone(void **state)
{
	(void)state;
	log_set_json(true);
	for (int c = 1; c < 256; c++) {
		char value[] = {'<', (char)c, '>', '\0'};
		LOG_INFO("byte", "v=%s", value);
		jdoc_free(take_json());
	}
}

static void fill(int fd)
{
	char junk[4096] = {0};

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, junk, sizeof(junk)) > 0)
		continue;
	while (write(fd, junk, 1) > 0)
		continue;
	fcntl(fd, F_SETFL, 0);
}

static void test_full_pipe_loses_line(void **state)
{
	uint64_t lost = log_lost();

	(void)state;
	fill(out[1]);
	errno = EXDEV;
	LOG_INFO("lost", "");
	assert_int_equal(errno, EXDEV);
	assert_int_equal(log_lost(), lost + 1);
	// Closed by its reader: lost as well (SIGPIPE is for main to ignore).
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	log_set_fd(null);
	LOG_INFO("lost", "");
	log_set_fd(-1);
	LOG_INFO("lost", "");
	assert_int_equal(log_lost(), lost + 3);
	close(null);
}

// Another writer takes the room between poll and write.
static void test_full_pipe_behind_poll(void **state)
{
	uint64_t lost = log_lost();
	struct iovec iov = {.iov_base = (char[]){'x'}, .iov_len = 1};

	(void)state;
	if (pwritev2(out[1], &iov, 1, -1, RWF_NOWAIT) < 0) {
		print_message("this kernel cannot write to a pipe without waiting\n");
		skip();
	}
	fill(out[1]);
	poll_lies = true;
	LOG_INFO("lost", "");
	assert_int_equal(log_lost(), lost + 1);
}

static void test_full_socket_loses_line(void **state)
{
	uint64_t lost = log_lost();

	(void)state;
	close_out();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out), 0);
	log_set_fd(out[1]);
	LOG_INFO("over a socket", "");
	assert_string_equal(take_text(), "INFO test: over a socket\n");
	fill(out[1]);
	LOG_INFO("lost", "");
	poll_lies = true;
	LOG_INFO("lost", "");
	// The reader is gone: no SIGPIPE.
	close(out[0]);
	LOG_INFO("lost", "");
	assert_int_equal(log_lost(), lost + 3);
	out[0] = -1;
}

static void test_file_is_appended(void **state)
{
	char got[512] = "";
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	log_set_fd(fileno(f));
	LOG_INFO("one", "");
	rewind(f);
	LOG_INFO("two", "");
	log_set_fd(out[1]);
	rewind(f);
	assert_true(fread(got, 1, sizeof(got) - 1, f) > 0);
	assert_non_null(strstr(got, "test: one\n"));
	assert_non_null(strstr(got, "test: two\n"));
	fclose(f);
}

static void test_limit(void **state)
{
	_Atomic uint64_t last = 0;

	(void)state;
	assert_true(log_limit(&last, UINT64_MAX));
	assert_false(log_limit(&last, UINT64_MAX));
	assert_true(log_limit(&last, 0));
	for (int i = 0; i < 5; i++)
		LOG_WARN_LIMIT("often", "i=%d", i);
	assert_string_equal(take_text(), "WARN test: often i=0\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_level),
		TEST(test_level_parse),
		TEST(test_json),
		TEST(test_long_lines),
		TEST(test_hostile_bytes_alone),
		TEST(test_full_pipe_loses_line),
		TEST(test_full_pipe_behind_poll),
		TEST(test_full_socket_loses_line),
		TEST(test_file_is_appended),
		TEST(test_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
