// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"

// Memory files for stdin and stdout instead of pipes: neither side can block on the other, and a
// process that the child leaves behind cannot keep us waiting for an end of file.
struct stdio {
	int in, out, exec_error[2];
};

// In the child, after fork: only async-signal-safe calls.
static void exec_child(const struct child *child, const struct stdio *io, pid_t parent)
{
	char *const argv[] = {(char *)child->path, NULL};
	int err_no;

	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	// What the runtime left open for us is not the delegate's. Before Linux 5.11 it stays.
	(void)close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	// The parent may have died before prctl.
	if (getppid() == parent && dup2(io->in, STDIN_FILENO) >= 0 &&
	    dup2(io->out, STDOUT_FILENO) >= 0)
		execve(child->path, argv, child->envp);
	err_no = errno;
	if (write(io->exec_error[1], &err_no, sizeof(err_no)) < 0)
		_exit(126);
	_exit(127);
}

// 0 where exec worked: the pipe closes by itself then.
static int read_exec_error(int fd)
{
	int err_no = 0;
	ssize_t n;

	do
		n = read(fd, &err_no, sizeof(err_no));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(err_no) ? err_no : 0;
}

static int make_input(const struct child *child)
{
	_close_ int fd = memfd_create("stdin", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = fdio_write_all(fd, child->input, child->input_len);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int start(const struct child *child, struct stdio *io, pid_t *ret_pid, struct err *err)
{
	pid_t parent = getpid(), pid;
	int err_no;

	if (pipe2(io->exec_error, O_CLOEXEC) < 0)
		return err_set(err, errno, "pipe");
	pid = fork(); // not posix_spawn, which cannot ask for a parent-death signal
	if (pid == 0)
		exec_child(child, io, parent);
	err_no = pid < 0 ? errno : 0;
	cleanup_closep(&io->exec_error[1]);
	if (pid > 0)
		err_no = read_exec_error(io->exec_error[0]);
	cleanup_closep(&io->exec_error[0]);
	if (pid > 0 && err_no != 0)
		waitpid(pid, NULL, 0);
	if (err_no != 0)
		return err_set(err, err_no, "start `%s`", child->path);
	*ret_pid = pid;
	return 0;
}

// Waits for the end of the child, by force when its time is up.
static int finish(const struct child *child, pid_t pid, int *ret_status, struct err *err)
{
	_close_ int pidfd = pidfd_open(pid, 0);
	int r, status = 0;

	r = pidfd < 0 ? -errno :
			fdio_wait(pidfd, POLLIN, clock_deadline_ns(child->timeout_ms));
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return err_set(err, -r, "`%s` did not end within %u ms", child->path,
			       child->timeout_ms);
	*ret_status = status;
	return 0;
}

int child_run(const struct child *child, struct buf *out, int *ret_status, struct err *err)
{
	_close_ int in = make_input(child);
	_close_ int mem = memfd_create("stdout", MFD_CLOEXEC);
	struct stdio io = {.in = in, .out = mem};
	pid_t pid = -1;
	int r;

	if (in < 0 || mem < 0)
		return err_set(err, in < 0 ? -in : errno, "memory file for `%s`", child->path);
	r = start(child, &io, &pid, err);
	if (r == 0)
		r = finish(child, pid, ret_status, err);
	if (r < 0)
		return r;
	if (lseek(mem, 0, SEEK_SET) < 0)
		return err_set(err, errno, "output of `%s`", child->path);
	r = buf_read_fd(out, mem);
	return r < 0 ? err_set(err, -r, "output of `%s`", child->path) : 0;
}
