// SPDX-License-Identifier: Apache-2.0
// wrap: clock_now_ns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "main/server.h"

#define CLIENTS (SERVER_CONNS_MAX + 44)
#define TURNS_MAX 50

// A server that answers each line with the line, unless it says otherwise.
struct world {
	struct event_base *base;
	struct server *server;
	char path[64];
	unsigned lines, closed;
	struct conn *last;
	int ride_fd;
};

static uint64_t clock_offset;

uint64_t __real_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void)
{
	return __real_clock_now_ns() + clock_offset;
}

static void on_line(struct conn *c, const char *text, size_t len, void *arg)
{
	struct world *w = arg;

	w->lines++;
	w->last = c;
	conn_greeted(c);
	if (strcmp(text, "hold") == 0)
		conn_hold(c);
	else if (strcmp(text, "finish") == 0)
		conn_finish(c);
	else if (strcmp(text, "keep") == 0)
		conn_keep(c);
	else if (strcmp(text, "fd") == 0)
		conn_send(c, text, len, w->ride_fd);
	else
		conn_send(c, text, len, -1);
	if (strcmp(text, "charged") == 0)
		conn_charge(c);
}

static void on_closed(struct conn *c, void *arg)
{
	struct world *w = arg;

	assert_true(conn_id(c) > 0);
	w->closed++;
}

static int open_as(struct world *w, uid_t uid, struct err *err)
{
	const struct server_conf conf = {.base = w->base,
					 .path = w->path,
					 .uid = uid,
					 .line = on_line,
					 .closed = on_closed,
					 .arg = w};

	return server_open(&conf, &w->server, err);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	clock_offset = 0;
	w->base = event_base_new();
	w->ride_fd = open("/dev/null", O_RDONLY);
	snprintf(w->path, sizeof(w->path), "/tmp/weft-server-%d.sock", getpid());
	assert_int_equal(open_as(w, getuid(), NULL), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	server_close(w->server);
	assert_int_equal(access(w->path, F_OK), -1);
	event_base_free(w->base);
	close(w->ride_fd);
	free(w);
	return 0;
}

static void turn(struct world *w)
{
	for (int i = 0; i < TURNS_MAX; i++)
		(void)event_base_loop(w->base, EVLOOP_NONBLOCK);
}

static int dial(struct world *w)
{
	int fd = fdio_connect_unix(w->path, 1000);

	assert_true(fd >= 0);
	assert_int_equal(fdio_set_nonblock(fd, true), 0);
	turn(w);
	return fd;
}

static void say(struct world *w, int fd, const char *text)
{
	assert_int_equal(fdio_write_all(fd, text, strlen(text)), 0);
	turn(w);
}

// What has come: text, "" = nothing, "closed".
static const char *hear(int fd)
{
	static char text[512];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return "closed";
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void test_echo(void **state)
{
	struct world *w = *state;
	struct stat st;
	int fd = dial(w);

	assert_int_equal(stat(w->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	say(w, fd, "one\ntwo\n");
	assert_string_equal(hear(fd), "one\ntwo\n");
	say(w, fd, "half");
	assert_string_equal(hear(fd), "");
	say(w, fd, " done\n");
	assert_string_equal(hear(fd), "half done\n");
	close(fd);
	turn(w);
	assert_int_equal(w->closed, 1);
	assert_int_equal(server_conns(w->server), 0);
}

// Requests that came before the end of input are answered before the connection is closed.
static void test_half_close(void **state)
{
	struct world *w = *state;
	int fd = dial(w);

	assert_int_equal(fdio_write_all(fd, "one\ntwo\nrest", 12), 0);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	turn(w);
	assert_string_equal(hear(fd), "one\ntwo\n");
	assert_string_equal(hear(fd), "closed");
	close(fd);
}

static void test_hold_keeps_order(void **state)
{
	struct world *w = *state;
	int fd = dial(w);

	say(w, fd, "hold\nnext\n");
	assert_int_equal(w->lines, 1);
	conn_send(w->last, "held", 4, -1);
	conn_release(w->last);
	turn(w);
	assert_string_equal(hear(fd), "held\nnext\n");
	// Who hangs up while waiting is gone at once.
	say(w, fd, "hold\n");
	close(fd);
	turn(w);
	assert_int_equal(w->closed, 1);
}

static void test_finish(void **state)
{
	struct world *w = *state;
	int fd = dial(w);

	say(w, fd, "one\nfinish\nnever\n");
	assert_string_equal(hear(fd), "one\n");
	assert_string_equal(hear(fd), "closed");
	assert_int_equal(w->lines, 2);
	close(fd);
}

static void test_wrong_user(void **state)
{
	struct world *w = *state;
	int fd;

	server_close(w->server);
	assert_int_equal(open_as(w, getuid() + 1, NULL), 0);
	fd = dial(w);
	assert_non_null(strstr(hear(fd), "only root"));
	assert_string_equal(hear(fd), "closed");
	assert_int_equal(server_conns(w->server), 0);
	close(fd);
}

static void test_descriptors(void **state)
{
	struct world *w = *state;
	int fd = dial(w), pipes[2], got = -1;
	char control[CMSG_SPACE(sizeof(int) * 3)] = {0}, text[16];
	struct iovec iov = {.iov_base = "with\n", .iov_len = 5};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

	assert_int_equal(pipe(pipes), 0);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int) * 3);
	for (int i = 0; i < 3; i++)
		memcpy(CMSG_DATA(cm) + i * sizeof(int), &pipes[1], sizeof(int));
	// What a client sends along is closed: the pipe ends when our own end does.
	assert_int_equal(sendmsg(fd, &msg, 0), 5);
	turn(w);
	assert_string_equal(hear(fd), "with\n");
	close(pipes[1]);
	assert_int_equal(read(pipes[0], text, 1), 0);
	close(pipes[0]);
	// And one of ours arrives.
	say(w, fd, "fd\n");
	iov = (struct iovec){.iov_base = text, .iov_len = sizeof(text)};
	msg.msg_controllen = sizeof(control);
	assert_int_equal(recvmsg(fd, &msg, 0), 3);
	cm = CMSG_FIRSTHDR(&msg);
	assert_non_null(cm);
	memcpy(&got, CMSG_DATA(cm), sizeof(got));
	assert_true(got >= 0 && fcntl(got, F_GETFD) >= 0);
	close(got);
	close(fd);
}

// More clients than places: those outside wait; who is idle makes room, who watches does not.
static void test_crowd(void **state)
{
	struct world *w = *state;
	int fds[CLIENTS], answered = 0;

	for (int i = 0; i < CLIENTS; i++)
		fds[i] = dial(w);
	assert_int_equal(server_conns(w->server), SERVER_CONNS_MAX);
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(fdio_write_all(fds[i], "keep\n", 5), 0);
	turn(w);
	assert_int_equal(w->lines, SERVER_CONNS_MAX);
	for (int i = 0; i < 100; i++)
		close(fds[i]);
	turn(w);
	for (int i = 0; i < 100; i++)
		fds[i] = -1;
	assert_int_equal(server_conns(w->server), CLIENTS - 100);
	for (int i = 100; i < CLIENTS; i++) {
		say(w, fds[i], "x\n");
		answered += strcmp(hear(fds[i]), "x\n") == 0;
		close(fds[i]);
	}
	assert_int_equal(answered, CLIENTS - 100);
	turn(w);
	assert_int_equal(server_conns(w->server), 0);
}

static void wait_turns(struct world *w, unsigned conns_closed)
{
	uint64_t end = __real_clock_now_ns() + 10 * NS_PER_SEC;

	while (w->closed < conns_closed) {
		(void)event_base_loop(w->base, EVLOOP_ONCE);
		assert_true(__real_clock_now_ns() < end);
	}
}

static void test_idle_make_room(void **state)
{
	struct world *w = *state;
	int fds[SERVER_CONNS_MAX + 1];

	for (int i = 0; i < SERVER_CONNS_MAX; i++)
		fds[i] = dial(w);
	say(w, fds[0], "keep\n");
	for (int i = 1; i < SERVER_CONNS_MAX; i++)
		say(w, fds[i], "x\n");
	clock_offset = (SERVER_IDLE_MS + 1000) * NS_PER_MS;
	fds[SERVER_CONNS_MAX] = dial(w);
	wait_turns(w, 1);
	(void)hear(fds[1]);
	assert_string_equal(hear(fds[1]), "closed"); // idle longest of those that may go
	assert_string_equal(hear(fds[0]), "");
	for (int i = 0; i <= SERVER_CONNS_MAX; i++)
		close(fds[i]);
	turn(w);
}

// Deadlines, on a clock that jumps: the timers of the loop only look at it.
static void test_unfinished_line(void **state)
{
	struct world *w = *state;
	int silent = dial(w), half = dial(w), good = dial(w);

	say(w, half, "hello\nhalf");
	say(w, good, "hello\n");
	(void)hear(half);
	(void)hear(good);
	clock_offset = (SERVER_LINE_MS + 1) * NS_PER_MS;
	say(w, half, "");
	wait_turns(w, 2);
	assert_non_null(strstr(hear(half), "no complete line in time"));
	assert_non_null(strstr(hear(silent), "no complete line in time"));
	assert_string_equal(hear(good), "");
	close(silent);
	close(half);
	close(good);
}

static void test_output_limit(void **state)
{
	struct world *w = *state;
	int fd = dial(w);
	char big[64 << 10];

	memset(big, 'x', sizeof(big));
	say(w, fd, "hello\n");
	for (unsigned sent = 0; sent < 2 * SERVER_OUT_MAX && w->closed == 0; sent += sizeof(big)) {
		conn_send(w->last, big, sizeof(big), -1);
		(void)event_base_loop(w->base, EVLOOP_NONBLOCK);
	}
	assert_int_equal(w->closed, 1);
	close(fd);
}

static void test_rate(void **state)
{
	struct world *w = *state;
	char text[9 * 100];
	int fd = dial(w);

	for (size_t i = 0; i < 100; i++)
		memcpy(text + i * 8, "charged\n", 8);
	for (int i = 0; i < 15; i++) {
		assert_int_equal(fdio_write_all(fd, text, 800), 0);
		turn(w);
		while (strcmp(hear(fd), "") != 0)
			;
	}
	assert_true(w->lines >= SERVER_BURST);
	assert_true(w->lines < 1500); // the rest waits for its time, and is not refused
	assert_int_equal(w->closed, 0);
	clock_offset = 2 * NS_PER_SEC;
	say(w, fd, "x\n");
	while (w->lines < 1501) {
		(void)event_base_loop(w->base, EVLOOP_ONCE);
		(void)hear(fd);
	}
	close(fd);
}

static void test_foreign_path(void **state)
{
	struct world *w = *state;
	struct err err = ERR_INIT;
	int fd;

	server_close(w->server);
	w->server = NULL;
	fd = open(w->path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_as(w, 0, &err), -EEXIST);
	assert_non_null(strstr(err.text, w->path));
	assert_int_equal(unlink(w->path), 0); // it was not deleted
	assert_int_equal(symlink("/etc/hostname", w->path), 0);
	assert_int_equal(open_as(w, 0, &err), -EEXIST);
	assert_int_equal(unlink(w->path), 0);
	server_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_echo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_half_close, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hold_keeps_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_finish, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_user, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_descriptors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_crowd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_idle_make_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unfinished_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_output_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rate, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_foreign_path, set_up, tear_down),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
