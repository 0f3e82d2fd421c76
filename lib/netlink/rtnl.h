// SPDX-License-Identifier: Apache-2.0
// One rtnetlink socket with request + acknowledge, over libnl-3 (core library only).
//
// A socket keeps the network namespace it was opened in for ever: weftd holds one for the host and
// one for the private namespace and never changes its own. Every call ends within 5 s (-ETIMEDOUT).
// Replies are length-checked before use; an interrupted dump (NLM_F_DUMP_INTR) is retried 5 times.
// Not thread safe: one socket per thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/err.h"

struct rtnl;

// Opens in the calling thread's network namespace. 0 or -errno.
int rtnl_open(struct rtnl **ret_rtnl, struct err *err);
// Opens inside the namespace of netns_fd, without moving the calling thread for longer than the
// call.
int rtnl_open_in(int netns_fd, struct rtnl **ret_rtnl, struct err *err);
void rtnl_close(struct rtnl *rtnl);
void rtnl_closep(struct rtnl **rtnl);
