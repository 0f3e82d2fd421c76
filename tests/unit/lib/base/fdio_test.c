// SPDX-License-Identifier: Apache-2.0
// wrap: write fsync poll connect flock getrandom
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "unit/lib/tmpdir.h"

// What the system calls below do before they are let through.
static struct {
	int eintr;        // interruptions first
	size_t write_max; // bytes per write, 0 = all
	int write_error;  // once eintr and writes_left are used up
	int writes_left;
	int fsync_error, fsync_good; // errno after so many good ones
	bool same_salt;
} sys;

static bool interrupted(void)
{
	if (sys.eintr == 0)
		return false;
	sys.eintr--;
	errno = EINTR;
	return true;
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (interrupted())
		return -1;
	if (sys.write_error && sys.writes_left-- == 0) {
		errno = sys.write_error;
		return -1;
	}
	return __real_write(fd, data, sys.write_max && size > sys.write_max ? sys.write_max : size);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	if (sys.fsync_error && sys.fsync_good-- == 0) {
		errno = sys.fsync_error;
		return -1;
	}
	return __real_fsync(fd);
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return interrupted() ? -1 : __real_poll(fds, count, timeout);
}

int __real_connect(int fd, const struct sockaddr *addr, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t size)
{
	return interrupted() ? -1 : __real_connect(fd, addr, size);
}

int __real_flock(int fd, int op);
int __wrap_flock(int fd, int op);
int __wrap_flock(int fd, int op)
{
	return interrupted() ? -1 : __real_flock(fd, op);
}

ssize_t __real_getrandom(void *data, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *data, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *data, size_t size, unsigned flags)
{
	if (!sys.same_salt)
		return __real_getrandom(data, size, flags);
	memset(data, 0xab, size);
	return (ssize_t)size;
}

static int reset(void **state)
{
	memset(&sys, 0, sizeof(sys));
	umask(022);
	return tmpdir_setup(state);
}

static unsigned mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

// ---- writing ----

static void test_write_all(void **state)
{
	char got[16] = "";
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	sys.eintr = 2;
	sys.write_max = 3;
	assert_int_equal(fdio_write_all(p[1], "0123456789", 10), 0);
	assert_int_equal(read(p[0], got, sizeof(got)), 10);
	assert_string_equal(got, "0123456789");
	assert_int_equal(fdio_write_all(p[1], NULL, 0), 0);
	sys.write_error = ENOSPC;
	sys.writes_left = 1;
	assert_int_equal(fdio_write_all(p[1], "0123456789", 10), -ENOSPC);
	close(p[0]);
	close(p[1]);
	assert_int_equal(fdio_write_all(p[1], "x", 1), -EBADF);
}

static void test_replace(void **state)
{
	const struct tmpdir *t = *state;
	char path[PATH_MAX + 8];
	struct err err = ERR_INIT;

	assert_int_equal(fdio_replace_file("f", "one", 3, 0640, &err), 0);
	tmpdir_assert_text("f", "one");
	assert_int_equal(mode_of("f"), 0640);
	snprintf(path, sizeof(path), "%s/f", t->path);
	sys.write_max = 2;
	sys.eintr = 1;
	assert_int_equal(fdio_replace_file(path, "second", 6, 0666, &err), 0);
	tmpdir_assert_text("f", "second");
	// Neither the umask nor the old file decides about the mode.
	assert_int_equal(mode_of("f"), 0666);
	assert_int_equal(fdio_replace_file("f", "", 0, 0400, &err), 0);
	tmpdir_assert_text("f", "");
	assert_int_equal(mode_of("f"), 0400);
	assert_int_equal(tmpdir_count(), 1);
	assert_string_equal(err.text, "");
}

static void test_replace_symlink(void **state)
{
	(void)state;
	struct stat st;

	tmpdir_write("target", "untouched");
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(fdio_replace_file("link", "new", 3, 0600, NULL), 0);
	tmpdir_assert_text("target", "untouched");
	tmpdir_assert_text("link", "new");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

// A failure at each step: the old file stays, the temporary one goes.
static void test_replace_failures(void **state)
{
	static const struct {
		const char *name, *path;
		int write_error, writes_left, fsync_error, want;
	} rows[] = {
		{"disk full", "f", ENOSPC, 0, 0, -ENOSPC},
		{"disk full later", "f", EIO, 1, 0, -EIO},
		{"fsync", "f", 0, 0, EIO, -EIO},
		{"no folder", "absent/f", 0, 0, 0, -ENOENT},
		{"folder is a file", "f/g", 0, 0, 0, -ENOTDIR},
		{"a folder in its place", "d", 0, 0, 0, -EISDIR},
		{"no name", "d/", 0, 0, 0, -ENOENT},
	};

	(void)state;
	tmpdir_write("f", "old");
	assert_int_equal(mkdir("d", 0700), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		memset(&sys, 0, sizeof(sys));
		sys.write_max = 1;
		sys.write_error = rows[i].write_error;
		sys.writes_left = rows[i].writes_left;
		sys.fsync_error = rows[i].fsync_error;
		int r = fdio_replace_file(rows[i].path, "new", 3, 0600, &err);
		// rename(2) may see that a folder is not empty first, or that it is one.
		if (r != rows[i].want && !(r == -EEXIST && rows[i].want == -EISDIR))
			fail_msg("%s: %d %s", rows[i].name, r, err.text);
		assert_non_null(strstr(err.text, rows[i].path));
		assert_int_equal(tmpdir_count(), 2);
		tmpdir_assert_text("f", "old");
	}
	assert_int_equal(rmdir("d"), 0);
}

static void test_replace_folder_sync(void **state)
{
	(void)state;
	sys.fsync_error = EIO;
	sys.fsync_good = 1;
	assert_int_equal(fdio_replace_file("f", "new", 3, 0600, NULL), -EIO);
	assert_int_equal(tmpdir_count(), 1);
	tmpdir_assert_text("f", "new");
}

// Somebody else's file of the same name is neither followed nor removed.
static void test_replace_temp_exists(void **state)
{
	(void)state;
	sys.same_salt = true;
	tmpdir_write("victim", "untouched");
	assert_int_equal(symlink("victim", ".abababababababab.tmp"), 0);
	assert_int_equal(fdio_replace_file("f", "new", 3, 0600, NULL), -EEXIST);
	assert_int_equal(tmpdir_count(), 2);
	tmpdir_assert_text("victim", "untouched");
}

static void test_replace_long_path(void **state)
{
	char path[PATH_MAX + 100];

	(void)state;
	memset(path, 'x', sizeof(path));
	memcpy(path + sizeof(path) - 3, "/f", 3);
	assert_int_equal(fdio_replace_file(path, "", 0, 0600, NULL), -ENAMETOOLONG);
}

static void test_write_text(void **state)
{
	(void)state;
	assert_int_equal(fdio_write_text("f", "1"), -ENOENT);
	assert_int_equal(tmpdir_count(), 0);
	tmpdir_write("f", "0");
	assert_int_equal(fdio_write_text("f", "1"), 0);
	tmpdir_assert_text("f", "1");
	sys.write_error = EINVAL;
	assert_int_equal(fdio_write_text("f", "1"), -EINVAL);
}

// ---- folders and locks ----

static void test_mkdir(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(fdio_mkdir_private("a/b/c", 0700, &err), 0);
	assert_int_equal(mode_of("a/b/c"), 0700);
	assert_int_equal(mode_of("a"), 0700);
	// What exists above is left alone, the last one is set.
	assert_int_equal(chmod("a", 0755), 0);
	assert_int_equal(chmod("a/b", 0777), 0);
	assert_int_equal(fdio_mkdir_private("a/b//", 0711, &err), 0);
	assert_int_equal(mode_of("a"), 0755);
	assert_int_equal(mode_of("a/b"), 0711);
	assert_int_equal(fdio_mkdir_private(".", 0700, &err), 0);
	assert_int_equal(mode_of("."), 0700);
	assert_string_equal(err.text, "");
	rmdir("a/b/c");
}

static void test_mkdir_failures(void **state)
{
	static char longest[PATH_MAX + 10];
	static const struct {
		const char *path;
		int want;
	} rows[] = {
		{"", -ENOENT},      {"file", -ENOTDIR},     {"file/sub", -ENOTDIR},
		{"link", -ENOTDIR}, {"dangling", -ENOTDIR}, {longest, -ENAMETOOLONG},
	};

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	tmpdir_write("file", "");
	assert_int_equal(mkdir("real", 0755), 0);
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		int r = fdio_mkdir_private(rows[i].path, 0700, &err);
		// A symlink is refused with either, by kernel version.
		if (r != rows[i].want && !(rows[i].want == -ENOTDIR && r == -ELOOP))
			fail_msg("%.20s: %d", rows[i].path, r);
		assert_true(err.text[0] != '\0');
	}
	assert_int_equal(mode_of("real"), 0755);
}

static void test_lock(void **state)
{
	(void)state;
	umask(0);
	sys.eintr = 2;
	int fd = fdio_lock_file("lock");
	assert_true(fd >= 0);
	assert_int_equal(mode_of("lock"), 0600);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fdio_lock_file("lock"), -EWOULDBLOCK);
	close(fd);
	fd = fdio_lock_file("lock");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink("lock", "link"), 0);
	assert_int_equal(fdio_lock_file("link"), -ELOOP);
	assert_int_equal(fdio_lock_file("absent/lock"), -ENOENT);
	assert_int_equal(fdio_lock_file("."), -EISDIR);
}

// ---- sockets ----

static void test_unix_sockets(void **state)
{
	char c = 0;

	(void)state;
	umask(0);
	int l = fdio_listen_unix("s", 4);
	assert_true(l >= 0);
	assert_int_equal(mode_of("s"), 0600);
	sys.eintr = 2;
	int a = fdio_connect_unix("s", 1000);
	assert_true(a >= 0);
	assert_true(fcntl(a, F_GETFD) & FD_CLOEXEC);
	int b = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	assert_true(b >= 0);
	assert_int_equal(write(a, "x", 1), 1);
	assert_int_equal(read(b, &c, 1), 1);
	assert_int_equal(c, 'x');
	// The bound on connecting does not stay on the socket.
	struct timeval tv = {.tv_sec = 9};
	socklen_t size = sizeof(tv);
	assert_int_equal(getsockopt(a, SOL_SOCKET, SO_SNDTIMEO, &tv, &size), 0);
	assert_int_equal(tv.tv_sec + tv.tv_usec, 0);
	close(a);
	close(b);
	close(l);
}

static void test_listen_replaces_stale_only(void **state)
{
	(void)state;
	int l = fdio_listen_unix("s", 1);
	assert_true(l >= 0);
	close(l);
	assert_int_equal(fdio_connect_unix("s", 100), -ECONNREFUSED);
	l = fdio_listen_unix("s", 1);
	assert_true(l >= 0);
	close(l);
	tmpdir_write("file", "kept");
	assert_int_equal(symlink("s", "link"), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(fdio_listen_unix("file", 1), -EEXIST);
	assert_int_equal(fdio_listen_unix("link", 1), -EEXIST);
	assert_int_equal(fdio_listen_unix("dir", 1), -EEXIST);
	assert_int_equal(fdio_listen_unix("absent/s", 1), -ENOENT);
	assert_int_equal(fdio_listen_unix("", 1), -ENOENT);
	tmpdir_assert_text("file", "kept");
}

static void test_connect_failures(void **state)
{
	char path[109];

	(void)state;
	assert_int_equal(fdio_connect_unix("absent", 100), -ENOENT);
	assert_int_equal(fdio_connect_unix("", 100), -ENOENT);
	memset(path, 'p', sizeof(path));
	path[108] = '\0';
	assert_int_equal(fdio_connect_unix(path, 100), -ENAMETOOLONG);
	assert_int_equal(fdio_listen_unix(path, 1), -ENAMETOOLONG);
	path[107] = '\0';
	int l = fdio_listen_unix(path, 1), c = fdio_connect_unix(path, 100);
	assert_true(l >= 0 && c >= 0);
	close(l);
	close(c);
}

// A full backlog must not hold the caller; nor must endless interruptions.
static void test_connect_backlog_full(void **state)
{
	int fds[16], count = 0, r = 0;

	(void)state;
	int l = fdio_listen_unix("s", 0);
	assert_true(l >= 0);
	while (count < 16 && (r = fdio_connect_unix("s", 20)) >= 0)
		fds[count++] = r;
	assert_int_equal(r, -ETIMEDOUT);
	assert_true(count > 0);
	sys.eintr = 1 << 30;
	assert_int_equal(fdio_connect_unix("s", 0), -ETIMEDOUT);
	sys.eintr = 0;
	assert_int_equal(fdio_connect_unix("s", -5), -ETIMEDOUT);
	while (count > 0)
		close(fds[--count]);
	close(l);
}

static void test_nonblock_and_wait(void **state)
{
	int p[2];
	char c;

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fdio_set_nonblock(p[0], true), 0);
	assert_int_equal(read(p[0], &c, 1), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fdio_wait(p[0], POLLIN, 0), -ETIMEDOUT);
	assert_int_equal(fdio_wait(p[0], POLLIN, clock_now_ns() + 1000), -ETIMEDOUT);
	assert_int_equal(write(p[1], "x", 1), 1);
	sys.eintr = 3;
	assert_int_equal(fdio_wait(p[0], POLLIN, clock_deadline_ns(10000)), 0);
	// What is there counts even when the time has passed.
	assert_int_equal(fdio_wait(p[0], POLLIN, 0), 0);
	assert_int_equal(fdio_set_nonblock(p[0], false), 0);
	assert_int_equal(fcntl(p[0], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(read(p[0], &c, 1), 1);
	close(p[1]);
	assert_int_equal(fdio_wait(p[0], POLLIN, clock_deadline_ns(10000)), 0);
	close(p[0]);
	assert_int_equal(fdio_wait(p[0], POLLIN, 0), -EBADF);
	assert_int_equal(fdio_set_nonblock(p[0], true), -EBADF);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, reset, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_write_all),
		TEST(test_replace),
		TEST(test_replace_symlink),
		TEST(test_replace_failures),
		TEST(test_replace_folder_sync),
		TEST(test_replace_temp_exists),
		TEST(test_replace_long_path),
		TEST(test_write_text),
		TEST(test_mkdir),
		TEST(test_mkdir_failures),
		TEST(test_lock),
		TEST(test_unix_sockets),
		TEST(test_listen_replaces_stale_only),
		TEST(test_connect_failures),
		TEST(test_connect_backlog_full),
		TEST(test_nonblock_and_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
