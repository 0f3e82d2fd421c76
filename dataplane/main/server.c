// SPDX-License-Identifier: Apache-2.0
#include "main/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "main/conn.h"

#define BACKLOG 1024 // connections that wait for a place
#define RETRY_MS 200 // until accept is tried again
#define REFUSED "{\"ok\":false,\"error\":{\"code\":4,\"msg\":\"only root may use this socket\"}}\n"

LOG_MODULE("server");

struct server {
	struct server_conf conf;
	int fd;
	uint64_t last_id;
	unsigned count;
	struct conn *conns[SERVER_CONNS_MAX];
	struct event *accept, *retry;
	bool paused;
};

static void pause_accept(struct server *s)
{
	const struct timeval tv = {.tv_usec = RETRY_MS * 1000};

	event_del(s->accept);
	event_add(s->retry, &tv);
	s->paused = true;
}

static void resume_accept(struct server *s)
{
	if (!s->paused)
		return;
	event_del(s->retry);
	event_add(s->accept, NULL);
	s->paused = false;
}

static void on_gone(struct conn *c, void *arg)
{
	struct server *s = arg;

	for (unsigned i = 0; i < s->count; i++) {
		if (s->conns[i] != c)
			continue;
		s->conns[i] = s->conns[--s->count];
		break;
	}
	s->conf.closed(c, s->conf.arg);
	conn_free(c);
	resume_accept(s);
}

static bool is_allowed(const struct server *s, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	if (cred.uid == s->conf.uid)
		return true;
	LOG_WARN_LIMIT("connection refused", "uid=%u pid=%d", cred.uid, cred.pid);
	return false;
}

static void add_conn(struct server *s, int fd)
{
	const struct conn_owner owner = {
		.base = s->conf.base,
		.line = s->conf.line,
		.gone = on_gone,
		.arg = s->conf.arg,
		.server = s,
	};
	struct conn *c;

	if (!is_allowed(s, fd)) {
		(void)!send(fd, REFUSED, strlen(REFUSED), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
		return;
	}
	c = conn_new(fd, ++s->last_id, &owner);
	if (c)
		s->conns[s->count++] = c;
}

// Makes a place: the client that has been idle longest goes.
static void evict_idle(struct server *s)
{
	uint64_t now = clock_now_ns();
	struct conn *oldest = NULL;

	for (unsigned i = 0; i < s->count; i++) {
		struct conn *c = s->conns[i];

		if (conn_is_idle(c, now) && (!oldest || conn_active_ns(c) < conn_active_ns(oldest)))
			oldest = c;
	}
	if (oldest)
		conn_kill(oldest);
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	struct server *s = arg;

	(void)what;
	while (s->count < SERVER_CONNS_MAX) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			add_conn(s, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN)
			return;
		LOG_WARN_LIMIT("accept failed", "why=%s", strerror(errno));
		break;
	}
	// No place, or no descriptor: whoever is outside waits in the kernel's queue.
	evict_idle(s);
	pause_accept(s);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	resume_accept(arg);
}

int server_open(const struct server_conf *conf, struct server **ret_server, struct err *err)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return err_set(err, ENOMEM, "control socket");
	s->conf = *conf;
	s->fd = fdio_listen_unix(conf->path, BACKLOG);
	if (s->fd < 0) {
		int r = s->fd;

		free(s);
		return err_set(err, -r, "control socket `%s`", conf->path);
	}
	(void)fdio_set_nonblock(s->fd, true);
	s->accept = event_new(conf->base, s->fd, EV_READ | EV_PERSIST, on_accept, s);
	s->retry = event_new(conf->base, -1, 0, on_retry, s);
	if (!s->accept || !s->retry || event_add(s->accept, NULL) < 0) {
		server_close(s);
		return err_set(err, ENOMEM, "control socket");
	}
	*ret_server = s;
	return 0;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	while (s->count > 0)
		on_gone(s->conns[0], s);
	if (s->accept)
		event_free(s->accept);
	if (s->retry)
		event_free(s->retry);
	close(s->fd);
	(void)unlink(s->conf.path);
	free(s);
}

unsigned server_conns(const struct server *s)
{
	return s->count;
}

void server_foreach(struct server *s, void (*fn)(struct conn *c, void *arg), void *arg)
{
	for (unsigned i = 0; i < s->count; i++)
		fn(s->conns[i], arg);
}
