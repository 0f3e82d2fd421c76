// SPDX-License-Identifier: Apache-2.0
#include "netlink/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fdio.h"

#define NETNS_DIR "/run/netns"
#define OWN_NETNS "/proc/thread-self/ns/net"
#define STACK_MAX 16 // mounts on one name that netns_remove takes away

static bool is_netns(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == NSFS_MAGIC &&
	       ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET;
}

static int open_own(void)
{
	int fd = open(OWN_NETNS, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void set_outcome(int *ret_outcome, int outcome)
{
	if (ret_outcome)
		*ret_outcome = outcome;
}

int netns_open(const char *path, int *ret_outcome, struct err *err)
{
	// O_NONBLOCK: the path may be a FIFO, or anything else.
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err_no = errno;

	set_outcome(ret_outcome, 0);
	if (fd < 0) {
		if (err_no == ENOENT || err_no == ENOTDIR)
			set_outcome(ret_outcome, NETNS_NOT_FOUND);
		return err_set(err, err_no, "open the network namespace `%s`", path);
	}
	if (!is_netns(fd)) {
		set_outcome(ret_outcome, NETNS_NOT_NETNS);
		return err_set(err, 0, "`%s` is no network namespace", path);
	}
	return TAKE_FD(fd);
}

bool netns_is_same(int fd_a, int fd_b)
{
	_close_ int own = fd_a < 0 || fd_b < 0 ? open_own() : -1;
	struct stat a, b;

	if (fstat(fd_a < 0 ? own : fd_a, &a) < 0 || fstat(fd_b < 0 ? own : fd_b, &b) < 0)
		return false;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

uint64_t netns_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_ino;
}

// A thread left in the wrong namespace would go on with the wrong host's links and sockets.
static void come_back(int own)
{
	if (setns(own, CLONE_NEWNET) < 0)
		abort();
}

int netns_run(int netns_fd, int (*fn)(void *arg), void *arg)
{
	_close_ int own = open_own();

	if (own < 0)
		return own;
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return -errno;
	int r = fn(arg);
	come_back(own);
	return r;
}

// A descriptor of a fresh namespace.
static int make(void)
{
	_close_ int own = open_own();

	if (own < 0)
		return own;
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	int fd = open_own();
	come_back(own);
	return fd;
}

static int path_of(const char *name, char path[PATH_MAX], struct err *err)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MAX || strchr(name, '/') || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return err_set(err, 0, "`%s` is no name for a network namespace", name);
	snprintf(path, PATH_MAX, NETNS_DIR "/%s", name);
	return 0;
}

// The file that the namespace is mounted on. One that `ip netns` left behind serves as well; a
// symlink or a device does not.
static int make_mount_point(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0444);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

static int make_at(const char *path)
{
	char from[64];
	int r = make_mount_point(path);

	if (r < 0)
		return r;
	_close_ int fd = make();
	if (fd < 0)
		return fd;
	snprintf(from, sizeof(from), "/proc/thread-self/fd/%d", fd);
	return mount(from, path, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

// Makes the folder a shared mount of its own, as `ip netns` and container runtimes do on their
// first use. They clone what is mounted below at that moment, so a namespace mounted before would
// be held twice, once out of reach, and could not be removed any more. Without the right to it
// nothing is lost but that.
static void share_folder(void)
{
	if (mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) == 0 || errno != EINVAL)
		return;
	if (mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL) == 0)
		(void)mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL);
}

int netns_open_or_make(const char *name, struct err *err)
{
	char path[PATH_MAX];
	int outcome;
	int r = path_of(name, path, err);

	if (r < 0)
		return r;
	r = netns_open(path, &outcome, NULL);
	if (r >= 0)
		return r;
	if (outcome == 0)
		return err_set(err, -r, "open the network namespace `%s`", path);
	if (mkdir(NETNS_DIR, 0755) < 0 && errno != EEXIST)
		return err_set(err, errno, "make the folder `%s`", NETNS_DIR);
	share_folder();
	r = make_at(path);
	if (r < 0)
		return err_set(err, -r, "make the network namespace `%s`", path);
	return netns_open(path, NULL, err);
}

int netns_remove(const char *name, struct err *err)
{
	char path[PATH_MAX];
	int r = path_of(name, path, err);

	if (r < 0)
		return r;
	// EINVAL: nothing is mounted there (any more).
	for (int i = 0; i < STACK_MAX && umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0; i++)
		continue;
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(err, errno, "remove the network namespace `%s`", path);
	return 0;
}
