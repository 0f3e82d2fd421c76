// SPDX-License-Identifier: Apache-2.0
// What source/tree.c knows of the folder, and the walk that brings it up to date. Shared by tree.c
// and tree_scan.c only. No event loop in here.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/map.h"
#include "source/tree.h"

// What tells one version of a file from the next without reading it.
struct tree_sig {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

struct tree_file {
	struct tree_sig sig;
	unsigned round; // of the last scan that saw it
};

struct tree_dir {
	char *path;
	int wd;
	unsigned round;
	bool is_foreign; // holds the target of a symlink; not walked itself
};

struct tree_scan {
	int inotify_fd;
	const char *root;  // borrowed
	struct map *files; // path -> struct tree_file
	struct map *dirs;  // wd as text -> struct tree_dir
	unsigned round;
	size_t missing;     // files the last full scan did not see
	struct err trouble; // first one of the running scan, text empty = none
	const struct tree_hooks *hooks;
};

// Borrows everything. 0 or -ENOMEM.
int tree_scan_init(struct tree_scan *s, int inotify_fd, const char *root,
		   const struct tree_hooks *hooks);
// Also of a half-made one.
void tree_scan_fini(struct tree_scan *s);
// Walks everything. 0, or -errno when the root is not usable, or cannot be read at all. Lesser
// trouble (a folder below, a limit) is left in s->trouble. Files that were not seen are counted in
// *ret_missing and stay known: tree_scan_sweep reports them as gone.
int tree_scan_all(struct tree_scan *s, size_t *ret_missing, struct err *err);
// After a tree_scan_all without any trouble only: what it did not see is gone.
void tree_scan_sweep(struct tree_scan *s);
// Looks at one path below a known folder again. is_forced: it counts as changed in any case.
enum tree_look {
	TREE_LOOK_DONE,
	TREE_LOOK_MISSING, // nothing is there; a known file stays known
	TREE_LOOK_ALL,     // something that only a full scan can tell apart
};
enum tree_look tree_scan_path(struct tree_scan *s, const char *path, bool is_forced);
// Forgets a file and reports it as gone, when it was known.
void tree_scan_gone(struct tree_scan *s, const char *path);
struct tree_dir *tree_scan_dir_get(const struct tree_scan *s, int wd);
// The kernel gave the watch up.
void tree_scan_dir_forget(struct tree_scan *s, int wd);
