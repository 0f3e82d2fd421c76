// SPDX-License-Identifier: Apache-2.0
// Watches a folder and all below it (inotify) and says which files of interest changed or went
// away.
//
//	r = tree_new(base, dir, &hooks, &t, err);
//	r = tree_start(t, err);     first scan: hooks run before it returns, in path order
//
// Of interest are regular files named *.yaml, *.yml or *.json, not starting with '.' nor ending in
// '~'; folders starting with '.' are left out. Symlinks to files and folders are followed (each
// folder once), and what they point to is watched too, so that a mounted ConfigMap (..data) works.
// A file counts as changed when its writer closes it, or when it is moved in, at once: no
// half-written files. All events that are pending are read before any hook runs, each path once.
// That a file is gone counts only after TREE_QUIET_MS without another removal (TREE_QUIET_MAX_MS at
// most): editors replace a file in two steps, and a folder that is being removed loses its files
// one by one.
//
// A folder that vanishes, or cannot be read, is trouble: what was known stays, nothing is `gone`,
// and the tree waits for it to come back. Limits: TREE_FILES_MAX, TREE_DIRS_MAX, TREE_DEPTH_MAX;
// what lies beyond is trouble as well. One thread.
#pragma once

#include <event2/event.h>
#include <stdbool.h>

#include "base/err.h"

#define TREE_FILES_MAX 20000
#define TREE_DIRS_MAX 2000
#define TREE_DEPTH_MAX 16
#define TREE_QUIET_MS 50
#define TREE_QUIET_MAX_MS 300

struct tree;

struct tree_hooks {
	void (*changed)(void *arg, const char *path); // new, or different from before
	void (*gone)(void *arg, const char *path);
	// After the changes of one look: the folder's own trouble, or NULL when there is none.
	void (*looked)(void *arg, const struct err *trouble);
	void *arg;
};

// base and hooks are borrowed; dir is copied.
int tree_new(struct event_base *base, const char *dir, const struct tree_hooks *hooks,
	     struct tree **ret_tree, struct err *err);
// 0, or -errno when the folder is missing or cannot be watched.
int tree_start(struct tree *t, struct err *err);
void tree_free(struct tree *t);
// True for a name (no path) that the tree would report.
bool tree_is_manifest(const char *name);
