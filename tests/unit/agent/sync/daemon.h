// SPDX-License-Identifier: Apache-2.0
// Plays weftd in the event loop of the test: answers by a few switches and writes down what was
// asked.
//
// The log reads "hello begin-sync apply:3 end-sync report ready ", a connection starts with "| ".
#pragma once

#include "unit/lib/tmpdir.h"

#include "unit/agent/source/files.h"

#include <sys/socket.h>

#include "api/line.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "json/jget.h"

struct daemon {
	struct event_base *base;
	int listen_fd, fd;
	struct event *on_connect, *on_data;
	struct line_reader in;
	struct buf log, ops; // ops: texts of all accepted ops, one a line
	const char *hang_up; // type that is not answered but ends the connection, once
	const char *garbage; // type that is answered by no JSON, once
	const char *busy;    // type that is answered by "try again", once
	const char *fails;   // type that is answered by an error
	const char *refuse;  // an apply that contains this text is refused
	bool not_ready;
};

static UNUSED void daemon_hang_up(struct daemon *d)
{
	if (d->on_data)
		event_free(d->on_data);
	d->on_data = NULL;
	line_reader_fini(&d->in);
	line_reader_init(&d->in);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static bool daemon_is(const char **what, const char *type, bool once)
{
	if (!*what || strcmp(*what, type))
		return false;
	if (once)
		*what = NULL;
	return true;
}

static void daemon_keep_ops(struct daemon *d, const struct jval *ops)
{
	for (size_t i = 0; i < jarray_len(ops); i++) {
		struct jval op = jarray_at(ops, i);
		_free_ char *text = jval_text(&op);

		assert_int_equal(buf_addf(&d->ops, "%s\n", text), 0);
	}
}

// Text of the answer to a good request.
static const char *daemon_reply(struct daemon *d, const char *line, const char *type,
				const struct jval *ops)
{
	if (daemon_is(&d->garbage, type, true))
		return "not json";
	if (daemon_is(&d->busy, type, true))
		return "{\"ok\":false,\"error\":{\"code\":11,\"msg\":\"busy\"}}";
	if (daemon_is(&d->fails, type, false))
		return "{\"ok\":false,\"error\":{\"code\":7,\"msg\":\"no\",\"details\":\"never\"}}";
	if (d->refuse && !strcmp(type, "apply") && strstr(line, d->refuse))
		return "{\"ok\":false,\"error\":{\"code\":7,\"msg\":\"bad op\"}}";
	daemon_keep_ops(d, ops);
	if (!strcmp(type, "ready"))
		return d->not_ready ? "{\"ok\":true,\"ready\":false,\"code\":50,\"msg\":\"soon\"}"
				    : "{\"ok\":true,\"ready\":true}";
	return "{\"ok\":true,\"applied\":1,\"removed\":0,\"version\":1,\"weftd\":\"test\"}";
}

// False when the connection is gone.
static bool daemon_answer(struct daemon *d, const char *line, size_t len)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jlimits limits = {.bytes = API_LINE_MAX, .depth = 8};
	struct jval root, ops = {0};
	const char *type = NULL, *reply;

	assert_int_equal(jdoc_parse(line, len, &limits, &doc, NULL), 0);
	root = jdoc_root(doc);
	assert_int_equal(jget_string(&root, "type", JREQUIRED, &type, NULL), 0);
	assert_int_equal(jget_array(&root, "ops", JOPTIONAL, &ops, NULL), 0);
	assert_int_equal(buf_addf(&d->log, "%s", type), 0);
	if (!strcmp(type, "apply"))
		assert_int_equal(buf_addf(&d->log, ":%zu", jarray_len(&ops)), 0);
	assert_int_equal(buf_addf(&d->log, " "), 0);
	if (daemon_is(&d->hang_up, type, true)) {
		daemon_hang_up(d);
		return false;
	}
	reply = daemon_reply(d, line, type, &ops);
	assert_int_equal(line_send(d->fd, reply, strlen(reply), -1, clock_deadline_ns(1000)), 0);
	return true;
}

static void daemon_on_data(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	const char *line;
	size_t len;

	(void)what;
	if (line_reader_fill(&d->in, fd) <= 0) {
		daemon_hang_up(d);
		return;
	}
	while ((line = line_reader_next(&d->in, &len)))
		if (!daemon_answer(d, line, len))
			return;
}

static void daemon_on_connect(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)what;
	daemon_hang_up(d);
	d->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(d->fd >= 0);
	assert_int_equal(buf_addf(&d->log, "| "), 0);
	d->on_data = event_new(d->base, d->fd, EV_READ | EV_PERSIST, daemon_on_data, d);
	event_add(d->on_data, NULL);
}

// Listens on "weftd.sock" in the working directory.
static UNUSED void daemon_start(struct daemon *d)
{
	d->listen_fd = fdio_listen_unix("weftd.sock", 4);
	assert_true(d->listen_fd >= 0);
	d->on_connect =
		event_new(d->base, d->listen_fd, EV_READ | EV_PERSIST, daemon_on_connect, d);
	event_add(d->on_connect, NULL);
}

static UNUSED void daemon_init(struct daemon *d, struct event_base *base)
{
	*d = (struct daemon){.base = base,
			     .listen_fd = -1,
			     .fd = -1,
			     .log = BUF_INIT(1 << 20),
			     .ops = BUF_INIT(16 << 20)};
	line_reader_init(&d->in);
}

// As if it had died: the socket is gone, connections are closed.
static UNUSED void daemon_stop(struct daemon *d)
{
	daemon_hang_up(d);
	if (d->on_connect)
		event_free(d->on_connect);
	d->on_connect = NULL;
	if (d->listen_fd >= 0)
		close(d->listen_fd);
	d->listen_fd = -1;
	unlink("weftd.sock");
}

static UNUSED void daemon_fini(struct daemon *d)
{
	daemon_stop(d);
	buf_fini(&d->log);
	buf_fini(&d->ops);
}
