// SPDX-License-Identifier: Apache-2.0
// The CNI configuration file that makes the node Ready: written last, when an ADD would work, and
// put back when somebody removes or empties it. It is never taken away: pods could not be deleted
// then.
//
//	r = conflist_new(base, &paths, &hooks, &c, err);
//	conflist_install(c);        an ADD works now; again and again is fine
//
// Written by a temporary file in the same folder, fsync and rename; the folder is made when
// missing. A file with other content is replaced by conflist_install, edits made later are left
// alone. Failures go to the hook and are tried again every CONFLIST_RETRY_MS; nothing is written
// more often. One thread.
#pragma once

#include <event2/event.h>
#include <stdbool.h>

#include "base/err.h"

#define CONFLIST_RETRY_MS 1000

struct conflist;

struct conflist_paths {
	const char *dir;     // /etc/cni/net.d
	const char *name;    // 10-weft.conflist; no path
	const char *run_dir; // of weftd, for the plugin
};

struct conflist_hooks {
	// NULL: the file is in place.
	void (*trouble)(void *arg, const struct err *err);
	void *arg;
};

// Texts are copied, base is borrowed. -EINVAL for a name that no runtime would read.
int conflist_new(struct event_base *base, const struct conflist_paths *paths,
		 const struct conflist_hooks *hooks, struct conflist **ret_conflist,
		 struct err *err);
void conflist_free(struct conflist *c);
void conflist_install(struct conflist *c);
bool conflist_is_installed(const struct conflist *c);
// The content for a run-dir, malloc'ed; NULL when memory is short.
char *conflist_text(const char *run_dir);
