// SPDX-License-Identifier: Apache-2.0
// DELs that weftd could not be told: one file RUN_DIR/spool/<hash>.json each, holding
// {"network":..,"container_id":..,"ifname":..}. weftd carries them out when it starts and removes
// them. The name is the attachment's hash, so that repeated DELs make one file.
#pragma once

#include <stdbool.h>

#include "attachment.h"
#include "base/err.h"

// Writes the entry so that it survives a crash (temp file, fsync, rename); makes the folders
// (0700) where they are missing. 0 or -errno.
int spool_write(const char *run_dir, const struct attachment *a, struct err *err);
// True where an entry for the attachment exists.
bool spool_has(const char *run_dir, const struct attachment *a);
// Removes the entry; there may be none. 0 or -errno.
int spool_remove(const char *run_dir, const struct attachment *a, struct err *err);
