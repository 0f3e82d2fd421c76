// SPDX-License-Identifier: Apache-2.0
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

int fdio_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

// Splits path into its folder, opened, and the name inside it.
static int open_parent(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (len >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, len);
	dir[len] = '\0';
	*ret_name = slash ? slash + 1 : path;
	if (len == 0)
		snprintf(dir, sizeof(dir), "%s", slash ? "/" : ".");
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int write_new(int dir, const char *name, const void *data, size_t size, mode_t mode)
{
	_close_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				mode & 0700);
	int r;

	if (fd < 0)
		return -errno;
	r = fdio_write_all(fd, data, size);
	if (r < 0)
		return r;
	// The umask must not decide about the final mode.
	if (fchmod(fd, mode) < 0 || fsync(fd) < 0)
		return -errno;
	// Some file systems report a failed write only here.
	return close(TAKE_FD(fd)) < 0 ? -errno : 0;
}

static int replace_in(int dir, const char *name, const void *data, size_t size, mode_t mode)
{
	char temp[32];
	uint64_t salt;
	int r;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	snprintf(temp, sizeof(temp), ".%016llx.tmp", (unsigned long long)salt);
	r = write_new(dir, temp, data, size, mode);
	if (r == -EEXIST)
		return r; // the file is not ours to remove
	if (r == 0 && renameat(dir, temp, dir, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(dir, temp, 0);
		return r;
	}
	return fsync(dir) < 0 ? -errno : 0;
}

int fdio_replace_file(const char *path, const void *data, size_t size, mode_t mode, struct err *err)
{
	const char *name;
	_close_ int dir = open_parent(path, &name);

	if (dir < 0)
		return err_set(err, -dir, "open the folder of `%s`", path);
	int r = replace_in(dir, name, data, size, mode);
	return r < 0 ? err_set(err, -r, "write `%s`", path) : 0;
}

int fdio_write_text(const char *path, const char *text)
{
	_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fdio_write_all(fd, text, strlen(text));
}

// Makes the folders above the last part of path, which is changed in between and restored.
static int make_parents(char *path, mode_t mode)
{
	for (char *p = path + 1; *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		int r = mkdir(path, mode) < 0 && errno != EEXIST ? -errno : 0;
		*p = '/';
		if (r < 0)
			return r;
	}
	return 0;
}

static int mkdir_last(const char *path, mode_t mode)
{
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return -errno;
	_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fchmod(fd, mode) < 0 ? -errno : 0;
}

int fdio_mkdir_private(const char *path, mode_t mode, struct err *err)
{
	char copy[PATH_MAX];
	size_t len = strlen(path);
	int r;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0 || len >= sizeof(copy))
		return err_set(err, len == 0 ? ENOENT : ENAMETOOLONG, "folder `%s`", path);
	memcpy(copy, path, len);
	copy[len] = '\0';
	r = make_parents(copy, mode);
	if (r == 0)
		r = mkdir_last(copy, mode);
	return r < 0 ? err_set(err, -r, "make the folder `%s`", path) : 0;
}

int fdio_lock_file(const char *path)
{
	_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	int r;

	if (fd < 0)
		return -errno;
	do {
		r = flock(fd, LOCK_EX | LOCK_NB);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : TAKE_FD(fd);
}

static int fill_sockaddr(struct sockaddr_un *sun, const char *path)
{
	size_t len = strlen(path);

	if (len == 0)
		return -ENOENT;
	if (len >= sizeof(sun->sun_path))
		return -ENAMETOOLONG;
	*sun = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(sun->sun_path, path, len + 1);
	return 0;
}

// SO_SNDTIMEO bounds the wait of connect(2) for room in the listener's backlog; a non-blocking
// connect would get EAGAIN there with nothing to poll for.
static int set_send_timeout(int fd, int timeout_ms)
{
	struct timeval tv = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0 ? -errno : 0;
}

static int connect_until(int fd, const struct sockaddr_un *sun, uint64_t deadline_ns)
{
	for (;;) {
		int left = clock_left_ms(deadline_ns);
		// A timeout of 0 would mean for ever.
		int r = set_send_timeout(fd, left > 0 ? left : 1);
		if (r < 0)
			return r;
		if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) == 0)
			return set_send_timeout(fd, 0);
		if (errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (left == 0)
			return -ETIMEDOUT;
	}
}

int fdio_connect_unix(const char *path, int timeout_ms)
{
	uint64_t deadline = clock_deadline_ns(timeout_ms > 0 ? (uint64_t)timeout_ms : 0);
	struct sockaddr_un sun;
	int r = fill_sockaddr(&sun, path);

	if (r < 0)
		return r;
	_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = connect_until(fd, &sun, deadline);
	return r < 0 ? r : TAKE_FD(fd);
}

static int remove_stale_socket(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

int fdio_listen_unix(const char *path, int backlog)
{
	struct sockaddr_un sun;
	int r = fill_sockaddr(&sun, path);

	if (r == 0)
		r = remove_stale_socket(path);
	if (r < 0)
		return r;
	_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	// bind(2) makes the file with the socket's own mode, so no moment is open to others.
	if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)&sun, sizeof(sun)) < 0 ||
	    listen(fd, backlog) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int fdio_set_nonblock(int fd, bool nonblock)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = nonblock ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int fdio_wait(int fd, short events, unsigned long long deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int left = clock_left_ms(deadline_ns);
		int n = poll(&p, 1, left);
		if (n > 0)
			return p.revents & POLLNVAL ? -EBADF : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0 && clock_left_ms(deadline_ns) == 0)
			return -ETIMEDOUT;
	}
}
