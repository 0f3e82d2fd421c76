// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fdio.h"
#include "uninstall_files.h"

struct heard {
	int removed, left;
};

static void hear(const char *path, bool left, void *arg)
{
	struct heard *h = arg;

	(void)path;
	*(left ? &h->left : &h->removed) += 1;
}

static int setup(void **state)
{
	char *dir = strdup("/tmp/uninstall-XXXXXX");

	*state = dir;
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return -1;
	return mkdir("run", 0700) || mkdir("run/spool", 0700) || mkdir("run/dpdk", 0700) ||
	       mkdir("run/dpdk/weftd", 0700) || mkdir("state", 0700);
}

static int teardown(void **state)
{
	static const char *const files[] = {"run/spool/x", "run/foreign", "run/link", "target"};
	static const char *const dirs[] = {"run/spool", "run/dpdk/weftd", "run/dpdk",
					   "run",       "state",          "elsewhere"};

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlink(files[i]);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		rmdir(dirs[i]);
	unlink("state");
	if (chdir("/") < 0 || rmdir(*state) < 0)
		return -1;
	free(*state);
	return 0;
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void removes_what_is_ours(void **state)
{
	static const char *const files[] = {
		"run/weftd.sock",        "run/lock",       "run/journal",
		"run/.journal.1.tmp",    "state/journal",  "run/spool/a.json",
		"state/journal.bad",     "state/restarts", "state/lock",
		"run/dpdk/weftd/config",
	};
	struct heard h = {0};
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		make_file(files[i]);
	assert_int_equal(uninstall_files("run", "state", hear, &h, &err), 0);
	assert_int_equal(h.removed, 5);
	assert_int_equal(h.left, 0);
	assert_int_equal(access("run", F_OK), -1);
	assert_int_equal(access("state", F_OK), -1);
	assert_int_equal(uninstall_files("run", "state", hear, &h, &err), 0);
	assert_int_equal(h.removed, 5);
	assert_string_equal(err.text, "");
}

static void leaves_what_is_not(void **state)
{
	struct heard h = {0};

	(void)state;
	make_file("run/foreign");
	make_file("run/weftd.sock");
	make_file("target");
	assert_int_equal(symlink("../target", "run/link"), 0);
	assert_int_equal(uninstall_files("run", "state", hear, &h, NULL), 0);
	assert_int_equal(h.left, 1);
	assert_int_equal(access("run/foreign", F_OK), 0);
	assert_int_equal(access("target", F_OK), 0);
	assert_int_equal(access("run/weftd.sock", F_OK), -1);
}

static void follows_no_link(void **state)
{
	struct heard h = {0};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(rmdir("state"), 0);
	assert_int_equal(mkdir("elsewhere", 0700), 0);
	assert_int_equal(symlink("elsewhere", "state"), 0);
	assert_true(uninstall_files("run", "state", hear, &h, &err) < 0);
	assert_non_null(strstr(err.text, "state"));
	assert_int_equal(access("elsewhere", F_OK), 0);
}

static void sees_the_lock(void **state)
{
	_close_ int fd = -1;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(uninstall_check_lock("run", &err), 0);
	assert_int_equal(access("run/lock", F_OK), -1);
	fd = fdio_lock_file("run/lock");
	assert_true(fd >= 0);
	assert_int_equal(uninstall_check_lock("run", &err), -EBUSY);
	close(TAKE_FD(fd));
	assert_int_equal(uninstall_check_lock("run", &err), 0);
	assert_int_equal(unlink("run/lock"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(removes_what_is_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(leaves_what_is_not, setup, teardown),
		cmocka_unit_test_setup_teardown(follows_no_link, setup, teardown),
		cmocka_unit_test_setup_teardown(sees_the_lock, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
