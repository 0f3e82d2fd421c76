// SPDX-License-Identifier: Apache-2.0
#include "sync/conn.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "api/line.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"

struct conn {
	struct event_base *base;
	const struct conn_hooks *hooks;
	char *path;
	int fd;
	struct event *on_read, *on_write, *on_retry;
	struct line_reader in;
	struct buf out;
	unsigned delay_ms;
	bool is_dropped; // given up; the retry event tells the hooks
	char why[128];
};

static void event_freep(struct event **ev)
{
	if (*ev)
		event_free(*ev);
	*ev = NULL;
}

static void close_socket(struct conn *c)
{
	event_freep(&c->on_read);
	event_freep(&c->on_write);
	line_reader_fini(&c->in);
	line_reader_init(&c->in);
	buf_fini(&c->out);
	c->out = BUF_INIT(CONN_OUT_MAX);
	cleanup_closep(&c->fd);
	c->fd = -1;
}

// The delay with a quarter of it more or less, so that agents do not knock in step.
static unsigned with_jitter(unsigned ms)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)(uintptr_t)&random >> 4;
	return ms - ms / 4 + random % (ms / 2 + 1);
}

static void add_timer(struct event *timer, unsigned ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};

	evtimer_add(timer, &tv);
}

static void retry_later(struct conn *c)
{
	add_timer(c->on_retry, with_jitter(c->delay_ms));
	c->delay_ms = c->delay_ms * 2 > CONN_RETRY_MAX_MS ? CONN_RETRY_MAX_MS : c->delay_ms * 2;
}

void conn_drop(struct conn *c, const char *why)
{
	if (c->is_dropped || c->fd < 0)
		return;
	c->is_dropped = true;
	(void)snprintf(c->why, sizeof(c->why), "%s", why);
	add_timer(c->on_retry, 0);
}

static void read_lines(struct conn *c)
{
	const char *text;
	size_t len;

	while (!c->is_dropped && (text = line_reader_next(&c->in, &len)))
		c->hooks->line(c->hooks->arg, text, len);
}

static void on_read(evutil_socket_t fd, short what UNUSED, void *arg)
{
	struct conn *c = arg;
	ssize_t n = line_reader_fill(&c->in, fd);

	if (n > 0)
		read_lines(c);
	else if (n == 0)
		conn_drop(c, "it hung up");
	else if (n != -EAGAIN)
		conn_drop(c, strerror((int)-n));
}

static void flush_out(struct conn *c)
{
	while (c->out.len > 0) {
		ssize_t n = send(c->fd, c->out.data, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			event_add(c->on_write, NULL);
			return;
		}
		if (n < 0) {
			conn_drop(c, strerror(errno));
			return;
		}
		buf_consume(&c->out, (size_t)n);
	}
}

static void on_write(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	flush_out(arg);
}

void conn_send(struct conn *c, const char *text, size_t len)
{
	size_t before = c->out.len;

	if (!conn_is_up(c))
		return;
	if (buf_add(&c->out, text, len) < 0 || buf_add(&c->out, "\n", 1) < 0)
		conn_drop(c, "it does not read");
	else if (before == 0)
		flush_out(c);
}

static int open_socket(struct conn *c)
{
	// Connecting to a unix socket never takes time: it is there and has room, or not.
	int fd = fdio_connect_unix(c->path, 0), r;

	if (fd < 0)
		return fd;
	c->fd = fd;
	r = fdio_set_nonblock(fd, true);
	if (r < 0)
		return r;
	c->on_read = event_new(c->base, fd, EV_READ | EV_PERSIST, on_read, c);
	c->on_write = event_new(c->base, fd, EV_WRITE, on_write, c);
	return c->on_read && c->on_write && event_add(c->on_read, NULL) == 0 ? 0 : -ENOMEM;
}

static void go_down(struct conn *c, bool was_up, const char *why)
{
	close_socket(c);
	c->is_dropped = false;
	retry_later(c);
	c->hooks->down(c->hooks->arg, was_up, why);
}

static void on_retry(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct conn *c = arg;
	int r;

	if (c->is_dropped) {
		go_down(c, true, c->why);
		return;
	}
	r = open_socket(c);
	if (r < 0)
		go_down(c, false, strerror(-r));
	else
		c->hooks->up(c->hooks->arg);
}

int conn_new(struct event_base *base, const char *path, const struct conn_hooks *hooks,
	     struct conn **ret_conn)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->base = base;
	c->hooks = hooks;
	c->fd = -1;
	c->delay_ms = CONN_RETRY_MIN_MS;
	line_reader_init(&c->in);
	c->out = BUF_INIT(CONN_OUT_MAX);
	c->path = strdup(path);
	c->on_retry = evtimer_new(base, on_retry, c);
	if (!c->path || !c->on_retry) {
		conn_free(c);
		return -ENOMEM;
	}
	*ret_conn = c;
	return 0;
}

void conn_start(struct conn *c)
{
	add_timer(c->on_retry, 0);
}

bool conn_is_up(const struct conn *c)
{
	return c->fd >= 0 && !c->is_dropped;
}

void conn_settled(struct conn *c)
{
	c->delay_ms = CONN_RETRY_MIN_MS;
}

void conn_free(struct conn *c)
{
	if (!c)
		return;
	close_socket(c);
	event_freep(&c->on_retry);
	free(c->path);
	free(c);
}
