// SPDX-License-Identifier: Apache-2.0
#include "source/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/tree_scan.h"

#define GUARD_EVENTS \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
// Ancestors can come and go while they are looked for; an event follows in that case.
#define GUARD_TRIES 8

struct tree {
	struct tree_scan scan;
	struct tree_hooks hooks;
	char *root;
	int inotify_fd, guard_fd;
	int guard_wd; // nearest existing folder above a root that is missing or a symlink; -1 =
		      // none
	struct event *on_events, *on_guard, *on_quiet;
	struct map *dirty;         // path -> MARK_*, found in the events read just now
	struct map *leaving;       // path -> MARK_MAYBE; removals that wait for quiet
	uint64_t leaving_since_ns; // 0 = nothing waits
	bool is_missing;           // the root is gone; everything known stays
	bool wants_all;            // this round of events needs a full scan
	bool wants_sweep;          // a removal waits that only a full scan can find
	struct event_base *base;
};

// Values in the maps are marks, not pointers.
#define MARK_MAYBE ((void *)1)  // changed when its signature did
#define MARK_FORCED ((void *)2) // changed in any case

static bool is_root_link(const struct tree *t)
{
	struct stat st;

	return lstat(t->root, &st) == 0 && S_ISLNK(st.st_mode);
}

// Cuts the last component off, in place: "/a/b" -> "/a" -> "/"; "a" -> ".".
static void cut_path(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		memcpy(path, ".", 2);
	else
		slash[slash == path] = '\0';
}

// Nearest existing folder above the root, into out.
static void find_guard(const struct tree *t, char out[PATH_MAX])
{
	struct stat st;

	(void)snprintf(out, PATH_MAX, "%s", t->root);
	do {
		cut_path(out);
	} while (strcmp(out, "/") && strcmp(out, ".") &&
		 (stat(out, &st) < 0 || !S_ISDIR(st.st_mode)));
}

static void guard_off(struct tree *t)
{
	if (t->guard_wd >= 0)
		inotify_rm_watch(t->guard_fd, t->guard_wd);
	t->guard_wd = -1;
}

static void guard_on(struct tree *t)
{
	char path[PATH_MAX], again[PATH_MAX];

	for (int i = 0; i < GUARD_TRIES; i++) {
		guard_off(t);
		find_guard(t, path);
		t->guard_wd = inotify_add_watch(t->guard_fd, path, GUARD_EVENTS);
		find_guard(t, again);
		if (t->guard_wd >= 0 && !strcmp(path, again))
			return;
	}
}

static void wait_for_quiet(struct tree *t)
{
	uint64_t now = clock_now_ns();
	struct timeval quiet = {.tv_usec = TREE_QUIET_MS * 1000};

	if (t->leaving_since_ns == 0)
		t->leaving_since_ns = now;
	if (now - t->leaving_since_ns + TREE_QUIET_MS * NS_PER_MS > TREE_QUIET_MAX_MS * NS_PER_MS)
		quiet.tv_usec = 0;
	if (quiet.tv_usec || !evtimer_pending(t->on_quiet, NULL))
		evtimer_add(t->on_quiet, &quiet);
}

static void looked(struct tree *t, const struct err *trouble)
{
	t->hooks.looked(t->hooks.arg, trouble && trouble->text[0] ? trouble : NULL);
}

static void root_lost(struct tree *t, const struct err *err)
{
	struct stat st;

	t->is_missing = true;
	guard_on(t);
	looked(t, err);
	// It may have come back before the guard stood; then no event tells.
	if (stat(t->root, &st) == 0 && S_ISDIR(st.st_mode))
		wait_for_quiet(t);
}

// A scan of everything; with sweep, what is not there any more is gone.
static void look_at_all(struct tree *t, bool sweep)
{
	struct err err = ERR_INIT;
	size_t missing = 0;

	if (tree_scan_all(&t->scan, &missing, &err) < 0) {
		root_lost(t, &err);
		return;
	}
	t->is_missing = false;
	if (is_root_link(t))
		guard_on(t);
	else
		guard_off(t);
	if (sweep && !t->scan.trouble.text[0]) {
		tree_scan_sweep(&t->scan);
	} else if (missing > 0 && !sweep) {
		t->wants_sweep = true;
		wait_for_quiet(t);
	}
	looked(t, &t->scan.trouble);
}

static int drop_leaving(const char *path, void *value UNUSED, void *arg)
{
	struct tree *t = arg;

	if (tree_scan_path(&t->scan, path, false) == TREE_LOOK_MISSING)
		tree_scan_gone(&t->scan, path);
	return 0;
}

static int forget_entry(const char *key, void *value UNUSED, void *arg)
{
	map_del(arg, key);
	return 0;
}

static void on_quiet(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct tree *t = arg;
	struct stat st;

	t->leaving_since_ns = 0;
	if (t->wants_sweep || t->is_missing || stat(t->root, &st) < 0) {
		t->wants_sweep = false;
		look_at_all(t, true);
	} else {
		map_foreach(t->leaving, drop_leaving, t);
		looked(t, &t->scan.trouble);
	}
	map_foreach(t->leaving, forget_entry, t->leaving);
}

static void mark_leaving(struct tree *t, const char *path)
{
	if (map_set(t->leaving, path, MARK_MAYBE) < 0)
		t->wants_sweep = true;
	wait_for_quiet(t);
}

static int look_at_dirty(const char *path, void *value, void *arg)
{
	struct tree *t = arg;

	switch (tree_scan_path(&t->scan, path, value == MARK_FORCED)) {
	case TREE_LOOK_DONE:
		break;
	case TREE_LOOK_MISSING:
		mark_leaving(t, path);
		break;
	case TREE_LOOK_ALL:
		t->wants_all = true;
		break;
	}
	return 0;
}

static void mark_dirty(struct tree *t, const char *path, bool is_forced)
{
	if (map_get(t->dirty, path) == MARK_FORCED)
		return;
	if (map_set(t->dirty, path, is_forced ? MARK_FORCED : MARK_MAYBE) < 0)
		t->wants_all = true;
}

static void on_removed(struct tree *t, const struct inotify_event *ev, const char *path)
{
	if (!(ev->mask & IN_ISDIR) && tree_is_manifest(ev->name)) {
		mark_leaving(t, path);
	} else {
		t->wants_sweep = true;
		wait_for_quiet(t);
	}
}

static void on_appeared(struct tree *t, const struct inotify_event *ev, const char *path)
{
	struct stat st;

	if (ev->mask & IN_ISDIR || lstat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		t->wants_all = true;
		return;
	}
	if (!tree_is_manifest(ev->name))
		return;
	// The writer of a new file closes it later; a second link to a file has no writer.
	if (ev->mask & IN_CREATE && st.st_nlink == 1)
		return;
	mark_dirty(t, path, ev->mask & (IN_CLOSE_WRITE | IN_MOVED_TO));
}

static bool is_noise(const char *name)
{
	size_t len = strlen(name);

	// "..data" and its like are how a mounted ConfigMap switches to new content.
	return len == 0 || name[len - 1] == '~' || (name[0] == '.' && name[1] != '.');
}

static void on_event(struct tree *t, const struct inotify_event *ev)
{
	const struct tree_dir *dir = tree_scan_dir_get(&t->scan, ev->wd);
	const char *name = ev->len ? ev->name : "";
	char path[PATH_MAX];

	if (ev->mask & IN_Q_OVERFLOW)
		t->wants_all = true;
	if (!dir)
		return;
	if (ev->mask & IN_IGNORED) {
		tree_scan_dir_forget(&t->scan, ev->wd);
		return;
	}
	if (ev->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) || dir->is_foreign ||
	    (name[0] == '.' && name[1] == '.')) {
		t->wants_all = true;
		return;
	}
	if (is_noise(name) ||
	    snprintf(path, sizeof(path), "%s/%s", dir->path, name) >= (int)sizeof(path))
		return;
	if (ev->mask & (IN_DELETE | IN_MOVED_FROM))
		on_removed(t, ev, path);
	else
		on_appeared(t, ev, path);
}

// Calls fn for each event that is pending on fd.
static void read_events(struct tree *t, int fd,
			void (*fn)(struct tree *t, const struct inotify_event *ev))
{
	_Alignas(struct inotify_event) char buf[16384];
	ssize_t size;

	while ((size = read(fd, buf, sizeof(buf))) > 0) {
		for (char *p = buf; p < buf + size;) {
			const struct inotify_event *ev = (const void *)p;

			fn(t, ev);
			p += sizeof(*ev) + ev->len;
		}
	}
}

static void on_events(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct tree *t = arg;

	t->wants_all = t->is_missing;
	read_events(t, fd, on_event);
	// Also where a full scan follows: a file whose size and time stayed the same was written.
	if (!t->is_missing)
		map_foreach(t->dirty, look_at_dirty, t);
	if (t->wants_all)
		look_at_all(t, false);
	else if (map_len(t->dirty) > 0)
		looked(t, &t->scan.trouble);
	map_foreach(t->dirty, forget_entry, t->dirty);
}

static void on_guard_event(struct tree *t, const struct inotify_event *ev)
{
	const char *slash = strrchr(t->root, '/');

	if (t->is_missing || !ev->len || !strcmp(ev->name, slash ? slash + 1 : t->root))
		t->wants_all = true;
}

static void on_guard(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct tree *t = arg;

	t->wants_all = false;
	read_events(t, fd, on_guard_event);
	if (t->wants_all)
		look_at_all(t, false);
}

static int open_events(struct tree *t, int *ret_fd, struct event **ret_event, event_callback_fn fn)
{
	*ret_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (*ret_fd < 0)
		return -errno;
	*ret_event = event_new(t->base, *ret_fd, EV_READ | EV_PERSIST, fn, t);
	return *ret_event && event_add(*ret_event, NULL) == 0 ? 0 : -ENOMEM;
}

static int tree_init(struct tree *t)
{
	int r = open_events(t, &t->inotify_fd, &t->on_events, on_events);

	if (r == 0)
		r = open_events(t, &t->guard_fd, &t->on_guard, on_guard);
	if (r < 0)
		return r;
	t->on_quiet = evtimer_new(t->base, on_quiet, t);
	t->dirty = map_new(NULL);
	t->leaving = map_new(NULL);
	if (!t->on_quiet || !t->dirty || !t->leaving || !t->root)
		return -ENOMEM;
	return tree_scan_init(&t->scan, t->inotify_fd, t->root, &t->hooks);
}

int tree_new(struct event_base *base, const char *dir, const struct tree_hooks *hooks,
	     struct tree **ret_tree, struct err *err)
{
	struct tree *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_set(err, ENOMEM, "watch manifests");
	t->base = base;
	t->hooks = *hooks;
	t->inotify_fd = t->guard_fd = t->guard_wd = -1;
	t->root = strdup(dir);
	// "dir/" and "dir" are the same folder, and the name of the last one is needed.
	for (size_t len = t->root ? strlen(t->root) : 0; len > 1 && t->root[len - 1] == '/';)
		t->root[--len] = '\0';
	r = tree_init(t);
	if (r < 0) {
		tree_free(t);
		return err_set(err, -r, "watch manifests folder `%s`", dir);
	}
	*ret_tree = t;
	return 0;
}

int tree_start(struct tree *t, struct err *err)
{
	size_t missing;
	int r = tree_scan_all(&t->scan, &missing, err);

	if (r < 0)
		return r;
	if (is_root_link(t))
		guard_on(t);
	looked(t, &t->scan.trouble);
	return 0;
}

static void event_freep(struct event *ev)
{
	if (ev)
		event_free(ev);
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	event_freep(t->on_events);
	event_freep(t->on_guard);
	event_freep(t->on_quiet);
	cleanup_closep(&t->inotify_fd);
	cleanup_closep(&t->guard_fd);
	tree_scan_fini(&t->scan);
	map_free(t->dirty);
	map_free(t->leaving);
	free(t->root);
	free(t);
}
