// SPDX-License-Identifier: Apache-2.0
#include "api/line.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdio.h"

#define READ_MAX (64u << 10)

// Room for the descriptors of one message. The kernel closes those that find none.
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * API_FDS_MAX)];
};

void line_reader_init(struct line_reader *r)
{
	*r = (struct line_reader){.in = BUF_INIT(API_LINE_MAX)};
	for (size_t i = 0; i < API_FDS_MAX; i++)
		r->fds[i] = -1;
}

void line_reader_fini(struct line_reader *r)
{
	for (size_t i = 0; i < r->fd_count; i++)
		close(r->fds[i]);
	buf_fini(&r->in);
	line_reader_init(r);
}

static void keep_fd(struct line_reader *r, int fd)
{
	if (r->fd_count < API_FDS_MAX)
		r->fds[r->fd_count++] = fd;
	else
		close(fd);
}

static void keep_fds(struct line_reader *r, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			keep_fd(r, fd);
		}
	}
}

// Forgets the lines given out, so that only the beginning of the next one is moved, once per read.
static void drop_taken(struct line_reader *r)
{
	buf_consume(&r->in, r->start);
	r->start = 0;
}

ssize_t line_reader_fill(struct line_reader *r, int fd)
{
	char chunk[READ_MAX];
	union control control;

	drop_taken(r);
	size_t room = r->in.max - r->in.len;
	if (room == 0)
		return -EMSGSIZE;
	struct iovec iov = {.iov_base = chunk, .iov_len = room < READ_MAX ? room : READ_MAX};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;
	do {
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	keep_fds(r, &msg);
	int err = buf_add(&r->in, chunk, (size_t)n);
	return err < 0 ? err : n;
}

const char *line_reader_next(struct line_reader *r, size_t *ret_len)
{
	size_t left = r->in.len - r->start;

	if (left == r->scanned)
		return NULL;
	char *line = r->in.data + r->start;
	char *end = memchr(line + r->scanned, '\n', left - r->scanned);
	if (!end) {
		r->scanned = left;
		return NULL;
	}
	*end = '\0';
	r->start += (size_t)(end - line) + 1;
	r->scanned = 0;
	*ret_len = (size_t)(end - line);
	return line;
}

int line_reader_take_fd(struct line_reader *r)
{
	if (r->fd_count == 0)
		return -1;
	int fd = r->fds[0];
	r->fd_count--;
	memmove(r->fds, r->fds + 1, sizeof(r->fds[0]) * r->fd_count);
	r->fds[r->fd_count] = -1;
	return fd;
}

// One sendmsg of what is left of text and newline; fd goes with it unless it is negative.
static ssize_t send_part(int sock, struct iovec *iov, size_t iov_count, int fd)
{
	union control control = {0};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = iov_count};

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(fd));
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	ssize_t n = sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

static ssize_t send_from(int sock, const char *text, size_t len, size_t sent, int fd)
{
	struct iovec iov[2] = {
		{.iov_base = (char *)text + sent, .iov_len = sent < len ? len - sent : 0},
		{.iov_base = (char[]){'\n'}, .iov_len = 1},
	};

	return send_part(sock, iov, 2, fd);
}

int line_send(int sock, const char *text, size_t len, int fd, unsigned long long deadline_ns)
{
	size_t sent = 0;

	if (len >= API_LINE_MAX)
		return -EMSGSIZE;
	if (memchr(text, '\n', len))
		return -EINVAL;
	while (sent <= len) {
		ssize_t n = send_from(sock, text, len, sent, sent == 0 ? fd : -1);
		if (n >= 0) {
			sent += (size_t)n;
			continue;
		}
		if (n != -EINTR && n != -EAGAIN)
			return (int)n;
		int r = n == -EAGAIN ? fdio_wait(sock, POLLOUT, deadline_ns) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}
