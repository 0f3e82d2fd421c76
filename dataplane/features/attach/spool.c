// SPDX-License-Identifier: Apache-2.0
#include "features/attach/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/log.h"
#include "json/jget.h"

#define FILE_MAX (64u << 10)
#define DEPTH_MAX 4
#define SUFFIX ".json"

LOG_MODULE("spool");

struct spool {
	char path[PATH_MAX];
	int dir, inotify;
	spool_fn *fn;
	void *arg;
};

int spool_open(const char *run_dir, spool_fn *fn, void *arg, struct spool **ret_spool,
	       struct err *err)
{
	struct spool *s = malloc(sizeof(*s));
	int r;

	if (!s)
		return err_set(err, ENOMEM, "spool");
	*s = (struct spool){.dir = -1, .inotify = -1, .fn = fn, .arg = arg};
	if (snprintf(s->path, sizeof(s->path), "%s/spool", run_dir) >= (int)sizeof(s->path))
		r = err_set(err, ENAMETOOLONG, "spool in `%.64s`", run_dir);
	else
		r = fdio_mkdir_private(s->path, 0700, err);
	if (r == 0) {
		s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		s->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (s->dir < 0 || s->inotify < 0 ||
		    inotify_add_watch(s->inotify, s->path, IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
			r = err_set(err, errno, "watch `%s`", s->path);
	}
	if (r < 0) {
		spool_close(s);
		return r;
	}
	*ret_spool = s;
	return 0;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	cleanup_closep(&s->dir);
	cleanup_closep(&s->inotify);
	free(s);
}

int spool_fd(const struct spool *s)
{
	return s->inotify;
}

static int read_entry(const struct spool *s, const char *name, struct buf *b, struct err *err)
{
	_close_ int fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, errno, "open `%s`", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, 0, "`%s` is no plain file", name);
	r = buf_read_fd(b, fd);
	return r < 0 ? err_set(err, -r, "read `%s`", name) : 0;
}

static int handle(struct spool *s, const char *name, struct err *err)
{
	const struct jlimits limits = {.bytes = FILE_MAX, .depth = DEPTH_MAX};
	_cleanup_(buf_fini) struct buf b = BUF_INIT(FILE_MAX);
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct attach_key key;
	struct jval root;
	int r = read_entry(s, name, &b, err);

	if (r == 0)
		r = jdoc_parse(b.data ? b.data : "", b.len, &limits, &doc, err);
	if (r < 0)
		return r;
	root = jdoc_root(doc);
	r = jget_string(&root, "network", JREQUIRED, &key.network, err);
	if (r == 0)
		r = jget_string(&root, "container_id", JREQUIRED, &key.container_id, err);
	if (r == 0)
		r = jget_string(&root, "ifname", JREQUIRED, &key.ifname, err);
	if (r == 0)
		s->fn(&key, s->arg);
	return r;
}

static void set_aside(struct spool *s, const char *name, const struct err *err)
{
	char bad[NAME_MAX + sizeof(".bad")];

	LOG_WARN("spool entry is set aside", "file=%s/%s why=%s", s->path, name, err->text);
	snprintf(bad, sizeof(bad), "%s.bad", name);
	// A folder or a name that is too long stays where it is and is looked at once per event.
	if (renameat(s->dir, name, s->dir, bad) < 0)
		LOG_WARN("spool entry stays", "file=%s/%s", s->path, name);
}

static bool is_entry(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > strlen(SUFFIX) &&
	       strcmp(name + len - strlen(SUFFIX), SUFFIX) == 0;
}

static void drain_events(const struct spool *s)
{
	char events[4096];

	while (read(s->inotify, events, sizeof(events)) > 0)
		;
}

void spool_run(struct spool *s)
{
	_closedir_ DIR *d = NULL;
	struct dirent *e;

	drain_events(s);
	d = opendir(s->path);
	if (!d)
		return;
	while ((e = readdir(d))) {
		struct err err = ERR_INIT;
		int r;

		if (!is_entry(e->d_name))
			continue;
		r = handle(s, e->d_name, &err);
		if (r < 0)
			set_aside(s, e->d_name, &err);
		else if (unlinkat(s->dir, e->d_name, 0) < 0)
			LOG_WARN("spool entry cannot be removed", "file=%s/%s", s->path, e->d_name);
	}
}
