// SPDX-License-Identifier: Apache-2.0
// The files of a stopped weftd: only names it makes are removed, and a folder only when that
// empties it.
#pragma once

#include <stdbool.h>

#include "base/err.h"

// Hears of each file or folder that was removed, or (left) is not weft's and stays.
typedef void uninstall_file_fn(const char *path, bool left, void *arg);

// -EBUSY where a process holds the lock of a run or state dir; 0 also where there is no lock or
// folder.
int uninstall_check_lock(const char *dir, struct err *err);
// 0 or -errno. Nothing there is no error; symbolic links are not followed.
int uninstall_files(const char *run_dir, const char *state_dir, uninstall_file_fn *fn, void *arg,
		    struct err *err);
