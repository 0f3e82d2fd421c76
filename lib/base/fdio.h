// SPDX-License-Identifier: Apache-2.0
// Whole reads and writes, atomic file replacement, locks, sockets. EINTR is always retried; every
// descriptor made here is O_CLOEXEC. Functions return 0 (or the value named) or -errno.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/err.h"

// Writes all of data to a blocking descriptor. 0 or -errno.
int fdio_write_all(int fd, const void *data, size_t size) MUST_CHECK;
// Temp file in the same folder, write, fsync, rename, fsync of the folder. A symlink at path is
// replaced, never followed. The temp name starts with "." and ends in ".tmp".
int fdio_replace_file(const char *path, const void *data, size_t size, mode_t mode,
		      struct err *err);
// Writes text into an existing file such as a sysctl (O_WRONLY, no create).
int fdio_write_text(const char *path, const char *text);
// mkdir -p with mode for what is made; an existing last folder must be a folder (not a symlink) and
// is set to mode.
int fdio_mkdir_private(const char *path, mode_t mode, struct err *err);
// Opens or creates path (0600, O_NOFOLLOW) and takes an exclusive lock without waiting. The
// descriptor holds the lock. -EWOULDBLOCK: somebody else holds it.
int fdio_lock_file(const char *path);
// Stream unix socket connected to path within timeout_ms. Descriptor or -errno; -ENAMETOOLONG when
// the path does not fit sun_path (107 bytes).
int fdio_connect_unix(const char *path, int timeout_ms);
// Listening stream unix socket, mode 0600. A stale socket file is replaced; any other kind of file
// is refused with -EEXIST. The caller must hold the lock that makes "stale" true.
int fdio_listen_unix(const char *path, int backlog);
// Sets or clears O_NONBLOCK. 0 or -errno.
int fdio_set_nonblock(int fd, bool nonblock);
// Waits for events (POLLIN, ...) until deadline_ns (monotonic). 0, -ETIMEDOUT or -errno.
int fdio_wait(int fd, short events, unsigned long long deadline_ns);
