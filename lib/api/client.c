// SPDX-License-Identifier: Apache-2.0
#include "api/client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/line.h"
#include "api/msg.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "json/jput.h"

struct client {
	int sock;
	struct line_reader in;
	char path[PATH_MAX];
};

static const struct jlimits reply_limits = {.bytes = API_LINE_MAX, .depth = 16};

void client_close(struct client *c)
{
	if (!c)
		return;
	if (c->sock >= 0)
		close(c->sock);
	line_reader_fini(&c->in);
	free(c);
}

void client_closep(struct client **c)
{
	client_close(*c);
	*c = NULL;
}

static int fail(const struct client *c, int err_no, const char *what, struct err *err)
{
	return err_set(err, err_no, "%s weftd at `%s`", what, c->path);
}

static int connect_daemon(struct client *c, unsigned long long deadline_ns, struct err *err)
{
	int r = fdio_connect_unix(c->path, clock_left_ms(deadline_ns));

	if (r >= 0) {
		c->sock = r;
		return 0;
	}
	// No file, or one that nobody listens on: for the caller the same.
	if (r == -ENOENT || r == -ENOTDIR)
		r = -ECONNREFUSED;
	return fail(c, -r, "connect to", err);
}

// Waits for one line and parses it.
static int read_line(struct client *c, unsigned long long deadline_ns, struct jdoc **ret_doc,
		     struct err *err)
{
	const char *text;
	size_t len;

	while (!(text = line_reader_next(&c->in, &len))) {
		int r = fdio_wait(c->sock, POLLIN, deadline_ns);
		if (r < 0)
			return fail(c, -r, "wait for", err);
		ssize_t n = line_reader_fill(&c->in, c->sock);
		if (n == 0)
			return fail(c, ECONNRESET, "read from", err);
		if (n < 0 && n != -EAGAIN)
			return fail(c, (int)-n, "read from", err);
	}
	int r = jdoc_parse(text, len, &reply_limits, ret_doc, err);
	return r < 0 ? err_wrap(err, -EPROTO, "reply of weftd at `%s`", c->path) : 0;
}

// Turns {"ok":false,"error":{...}} into err.
static int take_error(const struct jval *root, struct err *err)
{
	static const struct jrange code_range = {0, UINT_MAX};
	const char *msg = "weftd refused", *details = NULL;
	struct jval e = {0};
	int64_t code = 0;
	int r = jget_object(root, "error", JREQUIRED, &e, err);

	if (r == 0)
		r = jget_int(&e, "code", JREQUIRED, code_range, &code, err);
	if (r == 0)
		r = jget_string(&e, "msg", JREQUIRED, &msg, err);
	if (r == 0)
		r = jget_string(&e, "details", JOPTIONAL, &details, err);
	if (r < 0)
		return -EPROTO;
	bool more = details && details[0] != '\0';
	err_set_code(err, (unsigned)code, 0, "%s%s%s", msg, more ? ": " : "", more ? details : "");
	return -EREMOTEIO;
}

static int read_reply(struct client *c, unsigned long long deadline_ns, int flags,
		      struct jdoc **ret_reply, struct err *err)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	bool ok = true;
	int r = read_line(c, deadline_ns, &doc, err);

	if (r < 0)
		return r;
	struct jval root = jdoc_root(doc);
	if (jget_bool(&root, "ok", flags, &ok, err) < 0)
		r = -EPROTO;
	else if (!ok)
		r = take_error(&root, err);
	if (r == -EPROTO)
		return err_wrap(err, r, "reply of weftd at `%s`", c->path);
	if (r == 0)
		*ret_reply = TAKE_PTR(doc);
	return r;
}

int client_call(struct client *c, const char *request, unsigned long long deadline_ns,
		struct jdoc **ret_reply, struct err *err)
{
	int r = line_send(c->sock, request, strlen(request), -1, deadline_ns);

	// The daemon may have said why before it hung up.
	if (r < 0 && r != -EPIPE)
		return fail(c, -r, "send to", err);
	return read_reply(c, deadline_ns, JREQUIRED, ret_reply, err);
}

int client_next(struct client *c, unsigned long long deadline_ns, struct jdoc **ret_line,
		struct err *err)
{
	return read_reply(c, deadline_ns, JOPTIONAL, ret_line, err);
}

int client_take_fd(struct client *c)
{
	return line_reader_take_fd(&c->in);
}

static char *hello_text(const char *who)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_string(j, "type", msg_table[MSG_HELLO].name);
	jput_int(j, "min", API_VERSION);
	jput_int(j, "max", API_VERSION);
	jput_string(j, "who", who);
	jput_end(j);
	return jput_take(j);
}

static int say_hello(struct client *c, const char *who, unsigned long long deadline_ns,
		     struct err *err)
{
	static const struct jrange versions = {API_VERSION, API_VERSION};
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	_free_ char *hello = hello_text(who);
	int64_t version;

	if (!hello)
		return err_set(err, ENOMEM, "hello to weftd");
	int r = client_call(c, hello, deadline_ns, &reply, err);
	if (r < 0)
		return r;
	struct jval root = jdoc_root(reply);
	if (jget_int(&root, "version", JREQUIRED, versions, &version, err) < 0)
		return err_wrap(err, -EPROTO, "hello of weftd at `%s`", c->path);
	return 0;
}

int client_open(const char *run_dir, const char *who, unsigned long long deadline_ns,
		struct client **ret_client, struct err *err)
{
	_cleanup_(client_closep) struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return err_set(err, ENOMEM, "connect to weftd");
	c->sock = -1;
	line_reader_init(&c->in);
	int n = snprintf(c->path, sizeof(c->path), "%s/%s", run_dir, API_SOCKET_NAME);
	if (n < 0 || (size_t)n >= sizeof(c->path))
		return err_set(err, ENAMETOOLONG, "socket of weftd in `%s`", run_dir);
	int r = connect_daemon(c, deadline_ns, err);
	if (r == 0)
		r = say_hello(c, who, deadline_ns, err);
	if (r == 0)
		*ret_client = TAKE_PTR(c);
	return r;
}
