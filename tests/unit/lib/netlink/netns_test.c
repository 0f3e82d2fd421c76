// SPDX-License-Identifier: Apache-2.0
// wrap: setns
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit/lib/netlink/privnet.h"

static int setns_left = -1; // calls that still succeed, -1 = all

int __real_setns(int fd, int type);
int __wrap_setns(int fd, int type);
int __wrap_setns(int fd, int type)
{
	if (setns_left == 0) {
		errno = EPERM;
		return -1;
	}
	if (setns_left > 0)
		setns_left--;
	return __real_setns(fd, type);
}

static int own_netns(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void test_open(void **state)
{
	static const struct {
		const char *path;
		int want, outcome;
	} rows[] = {
		{"/run/absent", -ENOENT, NETNS_NOT_FOUND},
		{"/run/absent/deep", -ENOENT, NETNS_NOT_FOUND},
		{"/run/file/deep", -ENOTDIR, NETNS_NOT_FOUND},
		{"", -ENOENT, NETNS_NOT_FOUND},
		{"/run/file", -EINVAL, NETNS_NOT_NETNS},
		{"/run/fifo", -EINVAL, NETNS_NOT_NETNS},
		{"/run", -EINVAL, NETNS_NOT_NETNS},
		{"/dev/null", -EINVAL, NETNS_NOT_NETNS},
		{"/proc/self/status", -EINVAL, NETNS_NOT_NETNS},
		{"/proc/self/ns/mnt", -EINVAL, NETNS_NOT_NETNS},
		{"/run/loop", -ELOOP, 0},
	};

	(void)state;
	privnet_need_root();
	close(open("/run/file", O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(mkfifo("/run/fifo", 0600), 0);
	assert_int_equal(symlink("loop", "/run/loop"), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		int outcome = 99;
		int r = netns_open(rows[i].path, &outcome, &err);
		if (r != rows[i].want || outcome != rows[i].outcome)
			fail_msg("%s: %d outcome %d", rows[i].path, r, outcome);
		assert_non_null(strstr(err.text, rows[i].path));
		assert_int_equal(netns_open(rows[i].path, NULL, NULL), rows[i].want);
	}
	int outcome = 99;
	int fd = netns_open("/proc/self/ns/net", &outcome, NULL);
	assert_true(fd >= 0);
	assert_int_equal(outcome, 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void test_make_and_remove(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	privnet_need_root();
	int own = own_netns();
	int a = netns_open_or_make("a", &err);
	assert_true(a >= 0);
	int again = netns_open_or_make("a", &err);
	int b = netns_open_or_make("b", &err);
	assert_true(again >= 0 && b >= 0);
	assert_true(netns_is_same(a, again));
	assert_false(netns_is_same(a, b));
	assert_false(netns_is_same(a, -1));
	assert_true(netns_is_same(own, -1));
	assert_true(netns_is_same(-1, -1));
	assert_false(netns_is_same(1 << 20, a));
	assert_true(netns_inode(a) != 0 && netns_inode(a) == netns_inode(again));
	assert_true(netns_inode(a) != netns_inode(b));
	assert_true(netns_inode(1 << 20) == 0);
	assert_int_equal(netns_remove("a", &err), 0);
	assert_int_equal(access("/run/netns/a", F_OK), -1);
	assert_int_equal(netns_remove("a", &err), 0);
	assert_int_equal(netns_remove("b", &err), 0);
	assert_string_equal(err.text, "");
	close(own);
	close(a);
	close(again);
	close(b);
}

// A mount point without its mount, as an interrupted start leaves it, and several mounts on one.
static void test_left_behind(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	privnet_need_root();
	assert_true(mkdir("/run/netns", 0755) == 0 || errno == EEXIST);
	close(open("/run/netns/stale", O_CREAT | O_CLOEXEC, 0400));
	int fd = netns_open_or_make("stale", &err);
	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			mount("/proc/self/ns/net", "/run/netns/stale", NULL, MS_BIND, NULL), 0);
	assert_int_equal(netns_remove("stale", &err), 0);
	assert_int_equal(access("/run/netns/stale", F_OK), -1);
	assert_string_equal(err.text, "");
}

// The first `ip netns add` after us binds the folder onto itself where it is no mount yet; what was
// mounted in it before must stay removable.
static void test_folder_mounted_later(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	privnet_need_root();
	int fd = netns_open_or_make("early", &err);
	assert_true(fd >= 0);
	close(fd);
	if (mount("", "/run/netns", "none", MS_SHARED | MS_REC, NULL) < 0)
		assert_int_equal(mount("/run/netns", "/run/netns", "none", MS_BIND | MS_REC, NULL),
				 0);
	assert_int_equal(netns_remove("early", &err), 0);
	assert_int_equal(access("/run/netns/early", F_OK), -1);
	assert_string_equal(err.text, "");
}

static void test_names(void **state)
{
	static char longest[300];
	static const char *const bad[] = {"", ".", "..", "a/b", "/a", longest};

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;
		assert_int_equal(netns_open_or_make(bad[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "is no name"));
		assert_int_equal(netns_remove(bad[i], NULL), -EINVAL);
	}
}

static void test_what_is_no_mount_point(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	privnet_need_root();
	close(open("/run/target", O_CREAT | O_CLOEXEC, 0600));
	assert_true(mkdir("/run/netns", 0755) == 0 || errno == EEXIST);
	assert_int_equal(symlink("/run/target", "/run/netns/link"), 0);
	assert_int_equal(netns_open_or_make("link", &err), -ELOOP);
	assert_int_equal(mkdir("/run/netns/dir", 0755), 0);
	assert_int_equal(netns_open_or_make("dir", &err), -EISDIR);
	assert_int_equal(mkfifo("/run/netns/fifo", 0600), 0);
	assert_int_equal(netns_open_or_make("fifo", &err), -EEXIST);
	assert_non_null(strstr(err.text, "/run/netns/fifo"));
	assert_int_equal(netns_remove("dir", &err), -EISDIR);
	// The target of the symlink is as it was.
	assert_int_equal(netns_open("/run/target", NULL, NULL), -EINVAL);
	unlink("/run/netns/link");
	unlink("/run/netns/fifo");
	rmdir("/run/netns/dir");
}

static int return_where(void *arg)
{
	const int *other = arg;
	return netns_is_same(*other, -1) ? 42 : -1;
}

static void test_run(void **state)
{
	(void)state;
	privnet_need_root();
	int own = own_netns(), other = privnet_netns("other");

	assert_int_equal(netns_run(other, return_where, &other), 42);
	assert_true(netns_is_same(own, -1));
	assert_int_equal(netns_run(own, return_where, &own), 42);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(netns_run(null, return_where, &other), -EINVAL);
	assert_int_equal(netns_run(-1, return_where, &other), -EBADF);
	assert_true(netns_is_same(own, -1));
	close(null);
	close(own);
	close(other);
	assert_int_equal(netns_remove("other", NULL), 0);
}

// Exit status of a child that cannot come back from another namespace: it must not go on there.
static int run_without_return(int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		_exit(fn() >= 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int run_there(void)
{
	int other = netns_open_or_make("other", NULL);

	setns_left = 1;
	return netns_run(other, return_where, &other);
}

static int make_there(void)
{
	setns_left = 0;
	return netns_open_or_make("fresh", NULL);
}

static void test_no_way_back(void **state)
{
	(void)state;
	privnet_need_root();
	int status = run_without_return(run_there);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = run_without_return(make_there);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	// Not allowed to go there at all is an ordinary error.
	int other = privnet_netns("other");
	setns_left = 0;
	int r = netns_run(other, return_where, &other);
	setns_left = -1;
	assert_int_equal(r, -EPERM);
	close(other);
	netns_remove("other", NULL);
	netns_remove("fresh", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_make_and_remove),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_folder_mounted_later),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_is_no_mount_point),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_no_way_back),
	};
	return cmocka_run_group_tests(tests, privnet_enter, NULL);
}
