// SPDX-License-Identifier: Apache-2.0
// One JSON object a line over a stream unix socket, with descriptors beside it.
//
// A line is at most API_LINE_MAX bytes with its newline. Descriptors (SCM_RIGHTS) travel with the
// first byte of a line; up to API_FDS_MAX wait to be taken, those beyond are closed at once and the
// rest with the reader. Both directions work with blocking and non-blocking sockets. One thread per
// struct.
//
//	line_reader_init(&r);
//	n = line_reader_fill(&r, sock);                        after poll said POLLIN
//	while ((text = line_reader_next(&r, &len))) ...        all of them, before the next fill
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

#define API_LINE_MAX (1u << 20)
#define API_FDS_MAX 4

struct line_reader {
	struct buf in;
	int fds[API_FDS_MAX]; // received, not yet taken; -1 = none
	size_t fd_count;
	size_t start;   // bytes of in already given out as lines
	size_t scanned; // bytes of in known to hold no newline behind start
};

// An empty reader.
void line_reader_init(struct line_reader *r);
void line_reader_fini(struct line_reader *r); // closes descriptors that nobody took
// One recvmsg. Bytes read, 0 = the peer closed, -EAGAIN, -EMSGSIZE (line too long), other -errno.
// Text of the last line_reader_next ends to be valid.
ssize_t line_reader_fill(struct line_reader *r, int fd);
// Next complete line without its newline, NUL-terminated, valid until the next call. NULL: none
// yet.
const char *line_reader_next(struct line_reader *r, size_t *ret_len);
// First received descriptor; the caller takes it. -1: none.
int line_reader_take_fd(struct line_reader *r);
// Sends text and a newline; fd (or -1) rides along and stays the caller's. Blocks until
// deadline_ns. 0, -ETIMEDOUT, -EMSGSIZE (too long), -EINVAL (text holds a newline) or -errno (never
// raises SIGPIPE). After -ETIMEDOUT or an error of the socket part of the line may be sent: close
// the connection.
int line_send(int sock, const char *text, size_t len, int fd, unsigned long long deadline_ns);
