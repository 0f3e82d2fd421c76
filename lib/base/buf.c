// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define CAP_MIN 256u
#define READ_MAX (64u << 10)
#define KEEP_MAX (64u << 10) // an empty buffer larger than this is given back

void buf_fini(struct buf *b)
{
	free(b->data);
	*b = BUF_INIT(b->max);
}

// Makes room for size more bytes and the NUL.
static int reserve(struct buf *b, size_t size)
{
	size_t cap = b->cap > 0 ? b->cap : CAP_MIN;

	if (size > b->max || b->len > b->max - size)
		return -EMSGSIZE;
	if (b->data && b->cap > b->len + size)
		return 0;
	while (cap <= b->len + size && cap <= b->max / 2)
		cap *= 2;
	if (cap <= b->len + size)
		cap = b->max + 1;
	char *data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;
	data[b->len] = '\0';
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_add(struct buf *b, const void *data, size_t size)
{
	int r = reserve(b, size);

	if (r < 0)
		return r;
	if (size > 0)
		memcpy(b->data + b->len, data, size);
	b->len += size;
	b->data[b->len] = '\0';
	return 0;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list args, again;
	int r, size;

	va_start(args, fmt);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	r = size < 0 ? -EINVAL : reserve(b, (size_t)size);
	if (r == 0) {
		vsnprintf(b->data + b->len, (size_t)size + 1, fmt, again);
		b->len += (size_t)size;
	}
	va_end(again);
	return r;
}

void buf_consume(struct buf *b, size_t size)
{
	assert(size <= b->len);
	if (size == 0)
		return;
	b->len -= size;
	if (b->len == 0 && b->cap > KEEP_MAX) {
		buf_fini(b);
		return;
	}
	memmove(b->data, b->data + size, b->len + 1);
}

ssize_t buf_read_some(struct buf *b, int fd)
{
	size_t room = b->max - b->len;
	ssize_t n;

	if (room == 0)
		return -EMSGSIZE;
	if (room > READ_MAX)
		room = READ_MAX;
	int r = reserve(b, room);
	if (r < 0)
		return r;
	do {
		n = read(fd, b->data + b->len, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	b->len += (size_t)n;
	b->data[b->len] = '\0';
	return n;
}

// A full buffer is fine when the file ends there.
static int expect_end(int fd)
{
	char byte;
	ssize_t n;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == 0 ? 0 : -EMSGSIZE;
}

int buf_read_fd(struct buf *b, int fd)
{
	for (;;) {
		if (b->len == b->max)
			return expect_end(fd);
		ssize_t n = buf_read_some(b, fd);
		if (n <= 0)
			return (int)n;
	}
}

int buf_read_file(struct buf *b, const char *path)
{
	// O_NONBLOCK: a FIFO in the file's place must not hold us up.
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return buf_read_fd(b, fd);
}

char *buf_take(struct buf *b)
{
	char *data = b->data ? b->data : calloc(1, 1);

	b->data = NULL;
	buf_fini(b);
	return data;
}
