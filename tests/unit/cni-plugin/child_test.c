// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "cm.h"

#define OUTPUT_MAX 4096

static char path[] = P_tmpdir "/weft-child-XXXXXX";

// The file at path becomes a script.
static void write_script(const char *body)
{
	_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	char text[512];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", body);
	assert_true(fd >= 0);
	assert_int_equal(fdio_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, 0755), 0);
}

static int run(const char *body, const char *input, unsigned timeout_ms, struct buf *out,
	       int *ret_status, struct err *err)
{
	static char *const envp[] = {"PATH=/usr/bin:/bin", "COLOUR=red", NULL};
	const struct child child = {.path = path,
				    .envp = envp,
				    .input = input,
				    .input_len = strlen(input),
				    .timeout_ms = timeout_ms};

	write_script(body);
	return child_run(&child, out, ret_status, err);
}

static void passes_input_output_and_status(void **state)
{
	static const struct {
		const char *name, *body, *output;
		int status;
	} cases[] = {
		{"echo", "cat", "hello", 0},
		{"environment", "echo $COLOUR$HOME", "red\n", 0},
		{"status", "cat >/dev/null; exit 7", "", 7},
		{"input unread", "echo x", "x\n", 0},
		{"descriptors", "[ -e /proc/$$/fd/200 ] || echo closed", "closed\n", 0},
	};

	(void)state;
	assert_int_equal(dup2(STDERR_FILENO, 200), 200); // as a careless runtime leaves it
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(buf_fini) struct buf out = BUF_INIT(OUTPUT_MAX);
		struct err err = ERR_INIT;
		int status = -1;
		int r = run(cases[i].body, "hello", 10000, &out, &status, &err);

		if (r < 0 || WEXITSTATUS(status) != cases[i].status ||
		    strcmp(out.data ? out.data : "", cases[i].output) != 0)
			fail_msg("%s: %d, %d, `%s`, %s", cases[i].name, r, status, out.data,
				 err.text);
	}
}

static void bounds_time_and_output(void **state)
{
	_cleanup_(buf_fini) struct buf out = BUF_INIT(OUTPUT_MAX);
	struct err err = ERR_INIT;
	uint64_t begin = clock_now_ns();
	int status;

	(void)state;
	assert_int_equal(run("exec sleep 60", "", 50, &out, &status, &err), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin < 30000 * NS_PER_MS);
	assert_int_equal(run("head -c 5000 /dev/zero", "", 10000, &out, &status, &err),
			 -EMSGSIZE);
}

// The child's own child keeps stdout open; nobody waits for it.
static void leaves_grandchildren_alone(void **state)
{
	_cleanup_(buf_fini) struct buf out = BUF_INIT(OUTPUT_MAX);
	struct err err = ERR_INIT;
	uint64_t begin = clock_now_ns();
	int status;

	(void)state;
	assert_int_equal(run("sleep 60 & echo $!", "", 10000, &out, &status, &err), 0);
	assert_true(clock_now_ns() - begin < 30000 * NS_PER_MS);
	assert_non_null(out.data);
	assert_int_equal(kill((pid_t)strtol(out.data, NULL, 10), SIGKILL), 0);
}

static void says_why_it_cannot_start(void **state)
{
	static char *const envp[] = {NULL};
	const struct child child = {.path = "/nonexistent/x", .envp = envp, .timeout_ms = 1000};
	_cleanup_(buf_fini) struct buf out = BUF_INIT(OUTPUT_MAX);
	struct err err = ERR_INIT;
	int status;

	(void)state;
	assert_int_equal(child_run(&child, &out, &status, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // no zombie stays
	assert_int_equal(errno, ECHILD);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static int drop_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_input_output_and_status),
		cmocka_unit_test(bounds_time_and_output),
		cmocka_unit_test(leaves_grandchildren_alone),
		cmocka_unit_test(says_why_it_cannot_start),
	};

	return cmocka_run_group_tests(tests, make_file, drop_file);
}
