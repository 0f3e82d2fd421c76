// SPDX-License-Identifier: Apache-2.0
// Named network namespaces (/run/netns/NAME) and running code inside one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum netns_outcome { NETNS_NOT_FOUND = 1, NETNS_NOT_NETNS = 2 };

// Opens a namespace file for setns. The descriptor, or -errno; *ret_outcome (may be NULL) tells a
// missing path (NETNS_NOT_FOUND) and a file that is no network namespace (NETNS_NOT_NETNS, checked
// by the nsfs magic and NS_GET_NSTYPE) apart from other failures.
int netns_open(const char *path, int *ret_outcome, struct err *err);
// Opens /run/netns/NAME, making it (folder, bind mount of a fresh namespace) where it is missing.
// The calling thread stays where it is.
int netns_open_or_make(const char *name, struct err *err);
// Unmounts and removes /run/netns/NAME. 0 also where there was none.
int netns_remove(const char *name, struct err *err);
// True where both descriptors (or the calling thread's namespace for -1) are the same namespace.
bool netns_is_same(int fd_a, int fd_b);
// Inode of the namespace, 0 on failure.
uint64_t netns_inode(int fd);
// Runs fn with the calling thread inside netns_fd and comes back. Coming back cannot fail silently:
// if it does, the process is ended. Returns fn's value or -errno.
int netns_run(int netns_fd, int (*fn)(void *arg), void *arg);
