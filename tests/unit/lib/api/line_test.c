// SPDX-License-Identifier: Apache-2.0
// wrap: recvmsg sendmsg
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/line.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/fdio.h"

static int eintr_left;
static size_t send_max; // bytes per sendmsg, 0 = all
static int sends;

ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	if (eintr_left > 0) {
		eintr_left--;
		errno = EINTR;
		return -1;
	}
	return __real_recvmsg(fd, msg, flags);
}

ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct msghdr part = *msg;
	struct iovec iov = msg->msg_iov[0];

	sends++;
	if (eintr_left > 0) {
		eintr_left--;
		errno = EINTR;
		return -1;
	}
	if (send_max == 0)
		return __real_sendmsg(fd, msg, flags);
	if (iov.iov_len == 0)
		iov = msg->msg_iov[1];
	if (iov.iov_len > send_max)
		iov.iov_len = send_max;
	part.msg_iov = &iov;
	part.msg_iovlen = 1;
	return __real_sendmsg(fd, &part, flags);
}

struct ends {
	int a, b;
	struct line_reader r; // reads b
};

static int setup(void **state)
{
	static struct ends e;
	int fds[2];

	eintr_left = 0;
	send_max = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	e.a = fds[0];
	e.b = fds[1];
	line_reader_init(&e.r);
	*state = &e;
	return 0;
}

static int teardown(void **state)
{
	struct ends *e = *state;

	line_reader_fini(&e->r);
	if (e->a >= 0)
		close(e->a);
	close(e->b);
	return 0;
}

static uint64_t soon(void)
{
	return clock_deadline_ns(10000);
}

static void put(struct ends *e, const char *bytes, size_t size)
{
	assert_int_equal(fdio_write_all(e->a, bytes, size), 0);
}

static void assert_next(struct ends *e, const char *want)
{
	size_t len = 0;
	const char *got = line_reader_next(&e->r, &len);

	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, want);
	assert_int_equal(len, strlen(want));
}

static unsigned open_fds(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

// ---- reading ----

static void test_pieces(void **state)
{
	struct ends *e = *state;

	assert_next(e, NULL);
	put(e, "one\ntwo", 7);
	eintr_left = 2;
	assert_int_equal(line_reader_fill(&e->r, e->b), 7);
	assert_next(e, "one");
	assert_next(e, NULL);
	assert_next(e, NULL);
	put(e, "\n\nfour\nfi", 9);
	assert_int_equal(line_reader_fill(&e->r, e->b), 9);
	assert_next(e, "two");
	assert_next(e, "");
	assert_next(e, "four");
	assert_next(e, NULL);
	put(e, "ve\n", 3);
	assert_int_equal(line_reader_fill(&e->r, e->b), 3);
	assert_next(e, "five");
	assert_next(e, NULL);
}

static void test_byte_by_byte(void **state)
{
	static const char text[] = "{\"a\":1}\nx\n";
	struct ends *e = *state;
	unsigned lines = 0;
	size_t len;

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		put(e, text + i, 1);
		assert_int_equal(line_reader_fill(&e->r, e->b), 1);
		while (line_reader_next(&e->r, &len))
			lines++;
	}
	assert_int_equal(lines, 2);
}

static void test_half_line_then_close(void **state)
{
	struct ends *e = *state;

	put(e, "whole\nhalf", 10);
	close(e->a);
	e->a = -1;
	assert_int_equal(line_reader_fill(&e->r, e->b), 10);
	assert_next(e, "whole");
	assert_next(e, NULL);
	assert_int_equal(line_reader_fill(&e->r, e->b), 0);
	assert_next(e, NULL);
	assert_int_equal(line_reader_fill(&e->r, e->b), 0);
}

static void test_errors(void **state)
{
	struct ends *e = *state;

	assert_int_equal(fdio_set_nonblock(e->b, true), 0);
	assert_int_equal(line_reader_fill(&e->r, e->b), -EAGAIN);
	assert_int_equal(line_reader_fill(&e->r, -1), -EBADF);
}

// Reads with a peer that writes size bytes of 'x', then tail.
static ssize_t fill_all(struct ends *e, size_t size, const char *tail)
{
	char chunk[4096];
	ssize_t n = 1;

	memset(chunk, 'x', sizeof(chunk));
	assert_int_equal(fdio_set_nonblock(e->b, true), 0);
	while (size > 0 && n > 0) {
		size_t part = size < sizeof(chunk) ? size : sizeof(chunk);
		put(e, chunk, part);
		size -= part;
		n = line_reader_fill(&e->r, e->b);
	}
	if (n > 0) {
		put(e, tail, strlen(tail));
		n = line_reader_fill(&e->r, e->b);
	}
	return n;
}

static void test_longest_line(void **state)
{
	struct ends *e = *state;
	size_t len = 0;

	assert_int_equal(fill_all(e, API_LINE_MAX - 1, "\nnext\n"), 1);
	const char *line = line_reader_next(&e->r, &len);
	assert_non_null(line);
	assert_int_equal(len, API_LINE_MAX - 1);
	assert_int_equal(strlen(line), API_LINE_MAX - 1);
	assert_next(e, NULL);
	assert_int_equal(line_reader_fill(&e->r, e->b), 5);
	assert_next(e, "next");
}

static void test_line_too_long(void **state)
{
	struct ends *e = *state;

	assert_int_equal(fill_all(e, API_LINE_MAX, "\n"), -EMSGSIZE);
	assert_next(e, NULL);
	assert_int_equal(line_reader_fill(&e->r, e->b), -EMSGSIZE);
}

// A full buffer of the shortest lines must not cost one move of the rest per line.
static void test_many_tiny_lines(void **state)
{
	struct ends *e = *state;
	size_t count = 0, len, left = 1 << 20;
	char chunk[4096];

	memset(chunk, '\n', sizeof(chunk));
	assert_int_equal(fdio_set_nonblock(e->b, true), 0);
	for (; left > 0; left -= sizeof(chunk)) {
		put(e, chunk, sizeof(chunk));
		assert_true(line_reader_fill(&e->r, e->b) > 0);
		// Not taken out until 64 KB wait.
		if (left % (64 << 10) == 0)
			while (line_reader_next(&e->r, &len))
				count++;
	}
	while (line_reader_next(&e->r, &len))
		count++;
	assert_int_equal(count, 1 << 20);
}

// ---- descriptors ----

static void send_fds(struct ends *e, const int *fds, size_t count, const char *text)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 16)];
	} control = {0};
	struct iovec iov = {.iov_base = (char *)text, .iov_len = strlen(text)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = CMSG_SPACE(sizeof(int) * count)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
	assert_int_equal(__real_sendmsg(e->a, &msg, 0), strlen(text));
}

static void test_fd_rides_along(void **state)
{
	struct ends *e = *state;
	struct stat want, got;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	send_max = 3; // the descriptor goes with the first part only
	assert_int_equal(line_send(e->a, "{\"x\":1}", 7, null, soon()), 0);
	send_max = 0;
	assert_int_equal(fcntl(null, F_GETFD) >= 0, 1);
	for (size_t have = 0; have < 8;) {
		ssize_t n = line_reader_fill(&e->r, e->b);
		assert_true(n > 0);
		have += (size_t)n;
	}
	assert_next(e, "{\"x\":1}");
	int fd = line_reader_take_fd(&e->r);
	assert_true(fd >= 0 && fd != null);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(fd, &got), 0);
	assert_int_equal(fstat(null, &want), 0);
	assert_true(got.st_rdev == want.st_rdev);
	assert_int_equal(line_reader_take_fd(&e->r), -1);
	close(fd);
	close(null);
}

static void test_fds_not_taken_are_closed(void **state)
{
	struct ends *e = *state;
	int fds[3] = {e->a, e->a, e->a};
	unsigned before = open_fds();

	send_fds(e, fds, 3, "x\n");
	assert_int_equal(line_reader_fill(&e->r, e->b), 2);
	assert_int_equal(open_fds(), before + 3);
	int fd = line_reader_take_fd(&e->r);
	assert_true(fd >= 0);
	line_reader_fini(&e->r);
	assert_int_equal(open_fds(), before + 1);
	close(fd);
}

// More than allowed, in one message and in several: the rest is closed, the line is read.
static void test_too_many_fds(void **state)
{
	struct ends *e = *state;
	int fds[12];
	unsigned before = open_fds();

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = e->a;
	send_fds(e, fds, 12, "first\n");
	assert_int_equal(line_reader_fill(&e->r, e->b), 6);
	assert_next(e, "first");
	assert_int_equal(open_fds(), before + API_FDS_MAX);
	for (int i = 0; i < 5; i++) {
		send_fds(e, fds, 2, "more\n");
		assert_int_equal(line_reader_fill(&e->r, e->b), 5);
		assert_next(e, "more");
		assert_int_equal(open_fds(), before + API_FDS_MAX);
	}
	for (int i = 0; i < API_FDS_MAX; i++) {
		int fd = line_reader_take_fd(&e->r);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(line_reader_take_fd(&e->r), -1);
	assert_int_equal(open_fds(), before);
}

// ---- sending ----

static void test_send_refusals(void **state)
{
	struct ends *e = *state;
	char *big = calloc(1, API_LINE_MAX + 1);

	memset(big, 'x', API_LINE_MAX);
	assert_int_equal(line_send(e->a, big, API_LINE_MAX, -1, soon()), -EMSGSIZE);
	assert_int_equal(line_send(e->a, "a\nb", 3, -1, soon()), -EINVAL);
	assert_int_equal(line_send(-1, "x", 1, -1, soon()), -EBADF);
	// Nothing of all that was sent.
	assert_int_equal(fdio_wait(e->b, POLLIN, 0), -ETIMEDOUT);
	free(big);
}

static void test_send_short_writes(void **state)
{
	struct ends *e = *state;

	eintr_left = 2;
	send_max = 1;
	sends = 0;
	assert_int_equal(line_send(e->a, "hello", 5, -1, soon()), 0);
	assert_int_equal(line_send(e->a, "", 0, -1, soon()), 0);
	assert_int_equal(sends, 2 + 6 + 1);
	for (size_t have = 0; have < 7;) {
		ssize_t n = line_reader_fill(&e->r, e->b);
		assert_true(n > 0);
		have += (size_t)n;
	}
	assert_next(e, "hello");
	assert_next(e, "");
}

static void test_send_to_nobody(void **state)
{
	struct ends *e = *state;
	struct line_reader r;

	// Other way round, so that teardown closes what is left. No SIGPIPE.
	line_reader_init(&r);
	int fd = dup(e->b);
	close(e->b);
	e->b = e->a;
	e->a = -1;
	close(fd);
	assert_int_equal(line_send(e->b, "x", 1, -1, soon()), -EPIPE);
	assert_int_equal(line_reader_fill(&r, e->b), 0);
	line_reader_fini(&r);
}

static void test_send_to_sleeper(void **state)
{
	struct ends *e = *state;
	char *big = calloc(1, API_LINE_MAX);

	memset(big, 'x', API_LINE_MAX - 1);
	int r = line_send(e->a, big, API_LINE_MAX - 1, -1, clock_deadline_ns(30));
	assert_int_equal(r, -ETIMEDOUT);
	free(big);
}

struct slow_reader {
	int fd;
	struct line_reader r;
	size_t len;
};

static void *read_slowly(void *arg)
{
	struct slow_reader *s = arg;

	while (!line_reader_next(&s->r, &s->len))
		if (line_reader_fill(&s->r, s->fd) <= 0)
			break;
	return NULL;
}

// The longest line, through a small send buffer, to a peer that reads at its own pace.
static void test_send_longest_line(void **state)
{
	struct ends *e = *state;
	struct slow_reader s = {.fd = e->b};
	char *big = calloc(1, API_LINE_MAX);
	pthread_t thread;
	int size = 4096;

	memset(big, 'x', API_LINE_MAX - 1);
	line_reader_init(&s.r);
	assert_int_equal(setsockopt(e->a, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &s), 0);
	assert_int_equal(line_send(e->a, big, API_LINE_MAX - 1, -1, soon()), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(s.len, API_LINE_MAX - 1);
	line_reader_fini(&s.r);
	free(big);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pieces),
		TEST(test_byte_by_byte),
		TEST(test_half_line_then_close),
		TEST(test_errors),
		TEST(test_longest_line),
		TEST(test_line_too_long),
		TEST(test_many_tiny_lines),
		TEST(test_fd_rides_along),
		TEST(test_fds_not_taken_are_closed),
		TEST(test_too_many_fds),
		TEST(test_send_refusals),
		TEST(test_send_short_writes),
		TEST(test_send_to_nobody),
		TEST(test_send_to_sleeper),
		TEST(test_send_longest_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
