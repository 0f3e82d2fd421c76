// SPDX-License-Identifier: Apache-2.0
// Runs one other plugin: the same stdin bytes, its stdout into memory, its stderr to ours, a
// bounded time, no shell. The child gets SIGKILL when we die or when its time is up, and inherits
// no other descriptor. Nothing waits for what the child itself leaves running.
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct child {
	const char *path;     // of the program
	char *const *envp;    // NULL-terminated "K=V"
	const void *input;    // all of its stdin
	size_t input_len;     // bytes
	unsigned timeout_ms;  // for the whole run
};

// out (empty, with its bound) gets the stdout. *ret_status is what waitpid says. 0, -ETIMEDOUT,
// -EMSGSIZE for too much output, or -errno when the program cannot be started.
int child_run(const struct child *child, struct buf *out, int *ret_status, struct err *err);
