// SPDX-License-Identifier: Apache-2.0
#include "source/tree_scan.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/cleanup.h"

#define WD_TEXT_MAX 16
// IN_ATTRIB: a file that was made readable. Writes count when the writer closes the file.
#define DIR_EVENTS                                                                          \
	(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

static void dir_free(void *value)
{
	struct tree_dir *dir = value;

	free(dir->path);
	free(dir);
}

int tree_scan_init(struct tree_scan *s, int inotify_fd, const char *root,
		   const struct tree_hooks *hooks)
{
	*s = (struct tree_scan){.inotify_fd = inotify_fd, .root = root, .hooks = hooks};
	s->files = map_new(free);
	s->dirs = map_new(dir_free);
	return s->files && s->dirs ? 0 : -ENOMEM;
}

void tree_scan_fini(struct tree_scan *s)
{
	map_free(s->files);
	map_free(s->dirs);
}

static const char *wd_text(int wd, char out[WD_TEXT_MAX])
{
	(void)snprintf(out, WD_TEXT_MAX, "%d", wd);
	return out;
}

struct tree_dir *tree_scan_dir_get(const struct tree_scan *s, int wd)
{
	char text[WD_TEXT_MAX];

	return map_get(s->dirs, wd_text(wd, text));
}

void tree_scan_dir_forget(struct tree_scan *s, int wd)
{
	char text[WD_TEXT_MAX];

	map_del(s->dirs, wd_text(wd, text));
}

// Remembers the first trouble of a scan.
static void trouble(struct tree_scan *s, int err_no, const char *what, const char *path)
{
	if (!s->trouble.text[0])
		err_set(&s->trouble, err_no, "%s `%s`", what, path);
}

static bool has_suffix(const char *name, size_t len, const char *suffix)
{
	size_t tail = strlen(suffix);

	return len > tail && !strcmp(name + len - tail, suffix);
}

bool tree_is_manifest(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && (has_suffix(name, len, ".yaml") || has_suffix(name, len, ".yml") ||
				  has_suffix(name, len, ".json"));
}

static struct tree_sig sig_of(const struct stat *st)
{
	struct tree_sig sig;

	memset(&sig, 0, sizeof(sig)); // compared as bytes
	sig.dev = st->st_dev;
	sig.ino = st->st_ino;
	sig.size = st->st_size;
	sig.mtime = st->st_mtim;
	sig.ctime = st->st_ctim;
	return sig;
}

static struct tree_dir *dir_new(struct tree_scan *s, const char *path, int wd)
{
	struct tree_dir *dir = calloc(1, sizeof(*dir));
	char text[WD_TEXT_MAX];

	if (!dir)
		return NULL;
	dir->wd = wd;
	dir->path = strdup(path);
	if (!dir->path || map_set(s->dirs, wd_text(wd, text), dir) < 0) {
		dir_free(dir);
		return NULL;
	}
	return dir;
}

// Watches a folder; NULL with trouble noted. The same folder under another path has the same watch.
static struct tree_dir *watch(struct tree_scan *s, const char *path)
{
	int wd = inotify_add_watch(s->inotify_fd, path, DIR_EVENTS);
	struct tree_dir *dir;

	if (wd < 0) {
		// A folder below may have gone since it was listed.
		if (errno != ENOENT || !strcmp(path, s->root))
			trouble(s, errno, errno == ENOSPC ? "no inotify watch left for" : "watch",
				path);
		return NULL;
	}
	dir = tree_scan_dir_get(s, wd);
	if (dir)
		return dir;
	if (map_len(s->dirs) >= TREE_DIRS_MAX) {
		inotify_rm_watch(s->inotify_fd, wd);
		trouble(s, E2BIG, "too many folders, ignoring", path);
		return NULL;
	}
	dir = dir_new(s, path, wd);
	if (!dir)
		trouble(s, ENOMEM, "watch", path);
	return dir;
}

// A file behind a symlink changes where it really lies.
static void watch_target(struct tree_scan *s, const char *path)
{
	_free_ char *real = realpath(path, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;
	struct tree_dir *dir;

	if (!slash || slash == real)
		return;
	*slash = '\0';
	dir = watch(s, real);
	if (!dir || dir->round == s->round)
		return;
	dir->is_foreign = true;
	dir->round = s->round;
}

static void see_file(struct tree_scan *s, const char *path, const struct stat *st, bool is_forced)
{
	struct tree_file *file = map_get(s->files, path);
	struct tree_sig sig = sig_of(st);
	bool is_changed = is_forced || !file || memcmp(&file->sig, &sig, sizeof(sig)) != 0;

	if (!file) {
		if (map_len(s->files) >= TREE_FILES_MAX) {
			trouble(s, E2BIG, "too many files, ignoring", path);
			return;
		}
		file = calloc(1, sizeof(*file));
		if (!file || map_set(s->files, path, file) < 0) {
			free(file);
			trouble(s, ENOMEM, "read", path);
			return;
		}
	}
	file->sig = sig;
	file->round = s->round;
	if (is_changed)
		s->hooks->changed(s->hooks->arg, path);
}

static void walk(struct tree_scan *s, const char *path, unsigned depth);

static void see_entry(struct tree_scan *s, const char *dir, const struct dirent *entry,
		      unsigned depth)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);

	if (entry->d_name[0] == '.')
		return;
	if (n < 0 || (size_t)n >= sizeof(path)) {
		trouble(s, ENAMETOOLONG, "read", dir);
		return;
	}
	// Dangling links and files that vanish meanwhile are simply not there.
	if (stat(path, &st) < 0) {
		if (errno != ENOENT && errno != ELOOP)
			trouble(s, errno, "read", path);
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		walk(s, path, depth + 1);
	} else if (S_ISREG(st.st_mode) && tree_is_manifest(entry->d_name)) {
		if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
			watch_target(s, path);
		see_file(s, path, &st, false);
	}
}

// A watch stays with its folder when that is moved, or is first seen as the target of a symlink.
static int dir_set_path(struct tree_dir *dir, const char *path)
{
	char *copy;

	if (!strcmp(dir->path, path))
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(dir->path);
	dir->path = copy;
	return 0;
}

// Watch first, then read: what appears in between is in the listing or comes as an event.
static void walk(struct tree_scan *s, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	struct tree_dir *dir;
	int count;

	if (depth > TREE_DEPTH_MAX) {
		trouble(s, ELOOP, "too deep, ignoring", path);
		return;
	}
	dir = watch(s, path);
	if (!dir || (dir->round == s->round && !dir->is_foreign))
		return;
	dir->round = s->round;
	dir->is_foreign = false;
	count = dir_set_path(dir, path) < 0 ? -1 : scandir(path, &entries, NULL, alphasort);
	if (count < 0) {
		if (errno != ENOENT)
			trouble(s, errno, "read folder", path);
		return;
	}
	for (int i = 0; i < count; i++) {
		see_entry(s, path, entries[i], depth);
		free(entries[i]);
	}
	free(entries);
}

static int count_missing(const char *path UNUSED, void *value, void *arg)
{
	struct tree_scan *s = arg;
	const struct tree_file *file = value;

	s->missing += file->round != s->round;
	return 0;
}

int tree_scan_all(struct tree_scan *s, size_t *ret_missing, struct err *err)
{
	struct stat st;

	s->round++;
	s->trouble = ERR_INIT;
	if (stat(s->root, &st) < 0)
		return err_set(err, errno, "manifests folder `%s`", s->root);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ENOTDIR, "manifests folder `%s`", s->root);
	walk(s, s->root, 0);
	if (map_len(s->dirs) == 0) {
		*err = s->trouble;
		return err_wrap(err, err->err_no ? -err->err_no : -EIO, "manifests folder");
	}
	s->missing = 0;
	map_foreach(s->files, count_missing, s);
	*ret_missing = s->missing;
	return 0;
}

void tree_scan_gone(struct tree_scan *s, const char *path)
{
	_free_ char *copy = strdup(path); // path may belong to the entry

	if (copy && map_del(s->files, copy))
		s->hooks->gone(s->hooks->arg, copy);
}

static int sweep_file(const char *path, void *value, void *arg)
{
	struct tree_scan *s = arg;
	const struct tree_file *file = value;

	if (file->round != s->round)
		tree_scan_gone(s, path);
	return 0;
}

static int sweep_dir(const char *key, void *value, void *arg)
{
	struct tree_scan *s = arg;
	const struct tree_dir *dir = value;

	if (dir->round == s->round)
		return 0;
	inotify_rm_watch(s->inotify_fd, dir->wd);
	map_del(s->dirs, key);
	return 0;
}

void tree_scan_sweep(struct tree_scan *s)
{
	map_foreach(s->files, sweep_file, s);
	map_foreach(s->dirs, sweep_dir, s);
}

enum tree_look tree_scan_path(struct tree_scan *s, const char *path, bool is_forced)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? TREE_LOOK_MISSING : TREE_LOOK_ALL;
	if (!S_ISREG(st.st_mode))
		return TREE_LOOK_ALL;
	see_file(s, path, &st, is_forced);
	return TREE_LOOK_DONE;
}
