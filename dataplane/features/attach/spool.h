// SPDX-License-Identifier: Apache-2.0
// Detaches that the CNI binary left in RUN_DIR/spool while the daemon was away: one *.json file
// each,
// {"network","container_id","ifname"}, moved into place whole.
//
// A file is removed once it was handed on; one that makes no sense is renamed to NAME.bad. Poll
// spool_fd for POLLIN and call spool_run. Control thread.
#pragma once

#include "base/err.h"
#include "features/attach/attach.h"

struct spool;

typedef void spool_fn(const struct attach_key *key, void *arg);

// Makes the folder and watches it. 0 or -errno.
int spool_open(const char *run_dir, spool_fn *fn, void *arg, struct spool **ret_spool,
	       struct err *err);
void spool_close(struct spool *s);
int spool_fd(const struct spool *s);
// Handles all files that are there, without waiting.
void spool_run(struct spool *s);
