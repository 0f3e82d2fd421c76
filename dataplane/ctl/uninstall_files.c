// SPDX-License-Identifier: Apache-2.0
#include "uninstall_files.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/fdio.h"

#define LOCK_NAME "lock"
#define PATTERNS_MAX 6

struct folder {
	bool in_state;
	const char *name; // below run dir or state dir, with its slash
	const char *patterns[PATTERNS_MAX];
};

// In the order in which they become empty, with the names that weftd, the CNI binary and DPDK make.
static const struct folder folders[] = {
	{false, "/spool", {"*.json", ".*.tmp"}},
	{false, "/dpdk/weftd", {"*"}},
	{false, "/dpdk", {NULL}},
	{false, "", {"weftd.sock", LOCK_NAME, "journal", ".*.tmp"}},
	{true, "", {"journal", "journal.*", LOCK_NAME, "restarts", ".*.tmp"}},
};

int uninstall_check_lock(const char *dir, struct err *err)
{
	char path[PATH_MAX];
	_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/" LOCK_NAME, dir);
	// Looking must not make the file.
	if (access(path, F_OK) < 0)
		return 0;
	fd = fdio_lock_file(path);
	if (fd == -EWOULDBLOCK) {
		err_set(err, 0, "a process holds `%s`; stop weftd first", path);
		return -EBUSY;
	}
	return fd < 0 ? err_set(err, -fd, "lock `%s`", path) : 0;
}

static bool matches(const char *name, const char *const *patterns)
{
	for (size_t i = 0; patterns[i]; i++)
		if (fnmatch(patterns[i], name, FNM_PERIOD) == 0)
			return true;
	return false;
}

// Removes the plain files and sockets that match; others stay for rmdir to stumble over.
static int remove_matching(const char *dir, int dir_fd, const char *const *patterns,
			   struct err *err)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return err_set(err, errno, "read `%s`", dir);
	}
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    !matches(e->d_name, patterns))
			continue;
		if (unlinkat(dir_fd, e->d_name, 0) < 0 && errno != ENOENT && errno != EISDIR)
			return err_set(err, errno, "remove `%s/%s`", dir, e->d_name);
	}
	return 0;
}

static int remove_folder(const char *dir, const char *const *patterns, uninstall_file_fn *fn,
			 void *arg, struct err *err)
{
	_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, errno, "open folder `%s`", dir);
	r = remove_matching(dir, fd, patterns, err);
	if (r < 0)
		return r;
	if (rmdir(dir) == 0)
		fn(dir, false, arg);
	else if (errno == ENOTEMPTY || errno == EBUSY)
		fn(dir, true, arg);
	else
		return err_set(err, errno, "remove folder `%s`", dir);
	return 0;
}

int uninstall_files(const char *run_dir, const char *state_dir, uninstall_file_fn *fn, void *arg,
		    struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(folders); i++) {
		const char *base = folders[i].in_state ? state_dir : run_dir;
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s%s", base, folders[i].name) >=
		    (int)sizeof(path))
			return err_set(err, ENAMETOOLONG, "folder `%.64s`", base);
		r = remove_folder(path, folders[i].patterns, fn, arg, err);
	}
	return r;
}
