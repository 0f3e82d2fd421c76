// SPDX-License-Identifier: Apache-2.0
// A peer that sends pieces, floods and descriptors as the input says, against a plain model of what
// lines must come out. Each byte is an operation, some take more bytes:
//	xxxxxx00 N BYTES   send N bytes
//	NNNNNN01           send N * 1 KiB without a newline
//	xxNNNN10           send "f" with N descriptors
//	xxxxxx11           take a descriptor
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/line.h"
#include "base/buf.h"
#include "base/cleanup.h"

#define FDS_MAX 15

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at, *end;
};

struct peer {
	int tx, rx;
	struct line_reader r;
	struct buf sent; // not yet come out as a line
	size_t fds;      // sent with, as far as the reader may keep them
	bool over;
};

// Lines that have come out so far, against what was sent.
static void check_lines(struct peer *p)
{
	const char *line;
	size_t len;

	while ((line = line_reader_next(&p->r, &len))) {
		assert(p->sent.len > len && p->sent.data[len] == '\n');
		assert(memcmp(line, p->sent.data, len) == 0 && line[len] == '\0');
		assert(len < API_LINE_MAX);
		buf_consume(&p->sent, len + 1);
	}
	assert(p->sent.len == 0 || !memchr(p->sent.data, '\n', p->sent.len));
}

static void receive(struct peer *p, size_t size)
{
	while (size > 0) {
		ssize_t n = line_reader_fill(&p->r, p->rx);
		if (n == -EMSGSIZE) {
			assert(p->sent.len >= API_LINE_MAX);
			p->over = true;
			return;
		}
		assert(n > 0 && (size_t)n <= size);
		size -= (size_t)n;
		if (size == 0)
			check_lines(p);
	}
}

static void transmit(struct peer *p, const void *bytes, size_t size, size_t fd_count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd_count > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		for (size_t i = 0; i < fd_count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &p->tx, sizeof(int));
	}
	assert(buf_add(&p->sent, bytes, size) == 0);
	assert(sendmsg(p->tx, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size);
	receive(p, size);
}

static void send_bytes(struct peer *p, struct input *in)
{
	size_t size = in->at < in->end ? *in->at++ : 0;
	size_t left = (size_t)(in->end - in->at);

	if (size > left)
		size = left;
	if (size > 0)
		transmit(p, in->at, size, 0);
	in->at += size;
}

static void flood(struct peer *p, size_t kib)
{
	char block[1024];

	memset(block, 'x', sizeof(block));
	for (size_t i = 0; i < kib && !p->over; i++)
		transmit(p, block, sizeof(block), 0);
}

static void send_fds(struct peer *p, size_t count)
{
	transmit(p, "f", 1, count);
	p->fds += count;
	if (p->fds > API_FDS_MAX)
		p->fds = API_FDS_MAX;
}

static void take_fd(struct peer *p)
{
	int fd = line_reader_take_fd(&p->r);

	assert((fd >= 0) == (p->fds > 0));
	if (fd < 0)
		return;
	p->fds--;
	assert(close(fd) == 0);
}

static void step(struct peer *p, struct input *in)
{
	uint8_t op = *in->at++;

	switch (op & 3) {
	case 0:
		send_bytes(p, in);
		break;
	case 1:
		flood(p, op >> 2);
		break;
	case 2:
		send_fds(p, op >> 2 & FDS_MAX);
		break;
	default:
		take_fd(p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct peer p = {.sent = BUF_INIT(2 * API_LINE_MAX)};
	int ends[2];

	assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	p.tx = ends[0];
	p.rx = ends[1];
	line_reader_init(&p.r);
	while (in.at < in.end && !p.over)
		step(&p, &in);
	line_reader_fini(&p.r);
	buf_fini(&p.sent);
	close(p.tx);
	close(p.rx);
	return 0;
}
