// SPDX-License-Identifier: Apache-2.0
#include "cniconf/conflist.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "json/jput.h"

LOG_MODULE("agent.conflist");

#define TEXT_MAX (64u << 10) // a file longer than that is not ours
#define DIR_EVENTS (IN_DELETE | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)

struct conflist {
	struct conflist_hooks hooks;
	char *dir, *name, *path, *text;
	int inotify_fd, wd; // wd -1: the folder is not watched
	struct event *on_events, *on_retry;
	uint64_t written_ns; // when it was last written, 0 = never
	bool is_wanted;      // install was called once
	bool is_installed;
	bool was_right; // held our content once; edits made since are somebody's intention
};

static void put_list(struct jput *j, const char *key, const char *const *texts, size_t count)
{
	jput_array(j, key);
	for (size_t i = 0; i < count; i++)
		jput_string(j, NULL, texts[i]);
	jput_end(j);
}

static void put_plugin(struct jput *j, const char *run_dir)
{
	static const char *const capabilities[] = {"portMappings", "bandwidth", "ips", "mac"};

	jput_object(j, NULL);
	jput_string(j, "type", "weft");
	jput_string(j, "runDir", run_dir);
	jput_object(j, "capabilities");
	for (size_t i = 0; i < ARRAY_LEN(capabilities); i++)
		jput_bool(j, capabilities[i], true);
	jput_end(j);
	jput_end(j);
}

char *conflist_text(const char *run_dir)
{
	static const char *const versions[] = {"0.3.1", "0.4.0", "1.0.0", "1.1.0"};
	_cleanup_(jput_freep) struct jput *j = jput_new();

	if (!j)
		return NULL;
	jput_object(j, NULL);
	jput_string(j, "cniVersion", "1.0.0");
	put_list(j, "cniVersions", versions, ARRAY_LEN(versions));
	jput_string(j, "name", "weft");
	jput_array(j, "plugins");
	put_plugin(j, run_dir);
	jput_end(j);
	jput_end(j);
	return jput_take(j);
}

// mkdir -p; what exists is left as it is.
static int make_dirs(const char *path)
{
	_free_ char *part = strdup(path);

	if (!part)
		return -ENOMEM;
	for (char *p = part + 1; *part && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int watch_dir(struct conflist *c, struct err *err)
{
	int r = make_dirs(c->dir);

	if (r < 0)
		return err_set(err, -r, "CNI folder `%s`", c->dir);
	if (c->wd < 0)
		c->wd = inotify_add_watch(c->inotify_fd, c->dir, DIR_EVENTS);
	return c->wd < 0 ? err_set(err, errno, "watch `%s`", c->dir) : 0;
}

// Is there a file that is not empty, with our content where is_exact?
static bool is_there(const struct conflist *c, bool is_exact)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(TEXT_MAX);
	struct stat st;

	if (stat(c->path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return false;
	if (!is_exact)
		return true;
	return buf_read_file(&text, c->path) == 0 && text.len > 0 && !strcmp(text.data, c->text);
}

static void retry_later(struct conflist *c)
{
	struct timeval tv = {.tv_sec = CONFLIST_RETRY_MS / 1000,
			     .tv_usec = (CONFLIST_RETRY_MS % 1000) * 1000};

	if (!evtimer_pending(c->on_retry, NULL))
		evtimer_add(c->on_retry, &tv);
}

static int write_file(struct conflist *c, struct err *err)
{
	int r = watch_dir(c, err);

	if (r < 0 || is_there(c, !c->was_right))
		return r;
	c->written_ns = clock_now_ns();
	r = fdio_replace_file(c->path, c->text, strlen(c->text), 0644, err);
	if (r == 0)
		LOG_INFO("CNI configuration written", "path=%s", c->path);
	return r;
}

static void ensure(struct conflist *c)
{
	struct err err = ERR_INIT;
	int r = write_file(c, &err);

	c->is_installed = r == 0;
	c->was_right |= r == 0;
	if (r < 0)
		retry_later(c);
	c->hooks.trouble(c->hooks.arg, r < 0 ? &err : NULL);
}

void conflist_install(struct conflist *c)
{
	if (c->is_wanted && c->is_installed)
		return;
	c->is_wanted = true;
	ensure(c);
}

bool conflist_is_installed(const struct conflist *c)
{
	return c->is_installed;
}

static void on_retry(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	ensure(arg);
}

// Somebody who keeps removing the file does not make us spin.
static void restore(struct conflist *c)
{
	if (clock_now_ns() - c->written_ns < CONFLIST_RETRY_MS * NS_PER_MS)
		retry_later(c);
	else
		ensure(c);
}

// True when the event can mean that the file is no longer right.
static bool is_about_us(struct conflist *c, const struct inotify_event *ev)
{
	if (ev->mask & IN_Q_OVERFLOW)
		return true;
	if (ev->wd != c->wd)
		return false;
	if (ev->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) {
		// A folder that was moved away would otherwise stay watched.
		inotify_rm_watch(c->inotify_fd, ev->wd);
		c->wd = -1;
		return true;
	}
	return ev->len && !strcmp(ev->name, c->name);
}

static void on_events(evutil_socket_t fd, short what UNUSED, void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct conflist *c = arg;
	bool is_ours = false;
	ssize_t size;

	while ((size = read(fd, buf, sizeof(buf))) > 0) {
		for (char *p = buf; p < buf + size;) {
			const struct inotify_event *ev = (const void *)p;

			is_ours |= is_about_us(c, ev);
			p += sizeof(*ev) + ev->len;
		}
	}
	if (is_ours && c->is_wanted && (c->wd < 0 || !is_there(c, false)))
		restore(c);
}

static bool is_conf_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return name[0] != '.' && !strchr(name, '/') && dot && !strcmp(dot, ".conflist");
}

static int conflist_init(struct conflist *c, struct event_base *base,
			 const struct conflist_paths *paths)
{
	c->dir = strdup(paths->dir);
	c->name = strdup(paths->name);
	c->text = conflist_text(paths->run_dir);
	if (!c->dir || !c->name || !c->text ||
	    asprintf(&c->path, "%s/%s", paths->dir, paths->name) < 0) {
		c->path = NULL;
		return -ENOMEM;
	}
	c->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (c->inotify_fd < 0)
		return -errno;
	c->on_events = event_new(base, c->inotify_fd, EV_READ | EV_PERSIST, on_events, c);
	c->on_retry = evtimer_new(base, on_retry, c);
	if (!c->on_events || !c->on_retry || event_add(c->on_events, NULL) < 0)
		return -ENOMEM;
	return 0;
}

int conflist_new(struct event_base *base, const struct conflist_paths *paths,
		 const struct conflist_hooks *hooks, struct conflist **ret_conflist,
		 struct err *err)
{
	struct conflist *c;
	int r;

	if (!is_conf_name(paths->name))
		return err_set(err, 0, "`%s` is no name of a CNI configuration (NAME.conflist)",
			       paths->name);
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_set(err, ENOMEM, "CNI configuration");
	c->hooks = *hooks;
	c->inotify_fd = c->wd = -1;
	r = conflist_init(c, base, paths);
	if (r < 0) {
		conflist_free(c);
		return err_set(err, -r, "CNI configuration");
	}
	*ret_conflist = c;
	return 0;
}

void conflist_free(struct conflist *c)
{
	if (!c)
		return;
	if (c->on_events)
		event_free(c->on_events);
	if (c->on_retry)
		event_free(c->on_retry);
	cleanup_closep(&c->inotify_fd);
	free(c->dir);
	free(c->name);
	free(c->path);
	free(c->text);
	free(c);
}
