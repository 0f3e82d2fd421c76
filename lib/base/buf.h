// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer with an upper bound, for text and wire input. Always NUL terminated.
//
//	_cleanup_(buf_fini) struct buf b = BUF_INIT(1 << 20);
//	if (buf_read_fd(&b, STDIN_FILENO) < 0) ...
//
// One owner, no threads.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/compiler.h"

struct buf {
	char *data; // len bytes and a NUL; NULL before the first byte
	size_t len; // bytes in use
	size_t cap; // bytes allocated
	size_t max; // bytes that len may never exceed
};

#define BUF_INIT(max_bytes) ((struct buf){.max = (max_bytes)})

// Frees the bytes; the buffer is empty and usable afterwards.
void buf_fini(struct buf *b);
// Appends; 0, -ENOMEM, or -EMSGSIZE when max would be passed (nothing is appended then).
int buf_add(struct buf *b, const void *data, size_t size) MUST_CHECK;
// Appends formatted text; results as buf_add.
int buf_addf(struct buf *b, const char *fmt, ...) PRINTF_FORMAT(2, 3);
// Drops the first size bytes (size <= len). A large buffer that became empty is given back.
void buf_consume(struct buf *b, size_t size);
// One read(2) of up to 64 KB (EINTR is retried). Bytes read, 0 = end, or -errno (-EAGAIN too;
// -EMSGSIZE when the buffer is full, nothing is read then).
ssize_t buf_read_some(struct buf *b, int fd);
// Reads until end of file. 0 or -errno (-EMSGSIZE when there is more than max).
int buf_read_fd(struct buf *b, int fd);
// Reads a whole regular file (-EINVAL for any other kind). 0 or -errno.
int buf_read_file(struct buf *b, const char *path);
// Takes the text out as a malloc'ed string ("" when empty); the buffer is empty afterwards.
// NULL when memory is short.
char *buf_take(struct buf *b);
