// SPDX-License-Identifier: Apache-2.0
#include "main/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/line.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "core/counters.h"
#include "features/attach/attach_api.h"

#define DEPTH_MAX 16
#define CODE_DECODE 6
#define CODE_IO 5
#define CODE_INVALID 7

LOG_MODULE("control");

static void put_head(struct jput *j, const struct session *s, bool ok)
{
	jput_object(j, NULL);
	jput_bool(j, "ok", ok);
	if (s->has_id)
		jput_int(j, "id", s->id);
}

static void send_text(struct session *s, struct jput *j, int fd)
{
	_free_ char *text = jput_take(j);
	static const char no_memory[] =
		"{\"ok\":false,\"error\":{\"code\":5,\"msg\":\"no memory\"}}";

	if (text && strlen(text) < API_LINE_MAX)
		conn_send(s->conn, text, strlen(text), fd);
	else
		conn_send(s->conn, no_memory, sizeof(no_memory) - 1, -1);
}

static unsigned code_of(const struct err *err)
{
	if (err->code)
		return err->code;
	return err->err_no == EINVAL || err->err_no == 0 ? CODE_INVALID : CODE_IO;
}

static void send_error(struct session *s, const struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	put_head(j, s, false);
	jput_object(j, "error");
	jput_int(j, "code", code_of(err));
	jput_string(j, "msg", err->text[0] ? err->text : "failed");
	jput_end(j);
	jput_end(j);
	send_text(s, j, -1);
}

void control_answer(struct session *s, const struct err *err,
		    void (*fill)(struct jput *reply, const void *arg), const void *arg)
{
	_cleanup_(jput_freep) struct jput *j = NULL;

	if (err) {
		send_error(s, err);
	} else {
		j = jput_new();
		put_head(j, s, true);
		fill(j, arg);
		jput_end(j);
		send_text(s, j, -1);
	}
	conn_release(s->conn);
}

static int check_order(const struct session *s, enum msg_type type, struct err *err)
{
	if (s->greeted == (type == MSG_HELLO))
		return err_set_code(err, CODE_INVALID, 0,
				    s->greeted ? "hello was said already"
					       : "hello must come first");
	return 0;
}

static int run(struct daemon *d, struct session *s, const struct jval *msg, struct err *err)
{
	_cleanup_(jput_freep) struct jput *reply = jput_new();
	struct request rq = {.session = s, .msg = msg, .fd = -1};
	enum msg_type type;
	int r = msg_check(msg, &type, err);

	if (r == 0)
		r = check_order(s, type, err);
	if (r < 0)
		return r;
	if (!msg_table[type].cheap)
		conn_charge(s->conn);
	put_head(reply, s, true);
	r = control_handlers[type](d, &rq, reply, err);
	if (r < 0)
		LOG_DEBUG("request refused", "type=%s who=%s why=%s", msg_table[type].name, s->who,
			  err->text);
	if (r != 0)
		return r;
	jput_end(reply);
	send_text(s, reply, rq.fd);
	return 0;
}

static struct session *session_of(struct conn *c, struct daemon *d)
{
	struct session *s = conn_data(c);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s) {
		s->conn = c;
		s->daemon = d;
		conn_set_data(c, s);
	}
	return s;
}

static int parse(struct session *s, const char *text, size_t len, struct jdoc **ret_doc,
		 struct jval *ret_root, struct err *err)
{
	const struct jlimits limits = {.bytes = API_LINE_MAX, .depth = DEPTH_MAX};
	int r = jdoc_parse(text, len, &limits, ret_doc, err);

	s->has_id = false;
	if (r < 0) {
		err->code = CODE_DECODE;
		return r;
	}
	*ret_root = jdoc_root(*ret_doc);
	if (jval_type(ret_root) != JTYPE_OBJECT)
		return err_set_code(err, CODE_DECODE, 0, "a request is an object");
	s->has_id = jget_has(ret_root, "id", 0) &&
		    jget_int(ret_root, "id", JREQUIRED, (struct jrange){INT64_MIN, INT64_MAX},
			     &s->id, NULL) == 0;
	return 0;
}

void control_line(struct conn *c, const char *text, size_t len, void *daemon)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct session *s = session_of(c, daemon);
	struct err err = ERR_INIT;
	struct jval root;
	int r;

	if (!s) {
		conn_finish(c);
		return;
	}
	r = parse(s, text, len, &doc, &root, &err);
	if (r == 0)
		r = run(daemon, s, &root, &err);
	if (r == CONTROL_LATER)
		conn_hold(c);
	if (r < 0)
		send_error(s, &err);
	// Whoever does not speak the protocol by now will not learn it on this connection.
	if (r < 0 && !s->greeted)
		conn_finish(c);
	daemon_rearm(daemon);
}

void control_closed(struct conn *c, void *daemon)
{
	struct session *s = conn_data(c);
	struct daemon *d = daemon;

	if (!s)
		return;
	if (s->is_agent && --d->agent.connections == 0)
		LOG_WARN("weft-agent is gone; what it set stays in force", "%s", "");
	if (d->agent.sync_owner == conn_id(c))
		d->agent.sync_owner = 0;
	attach_owner_gone(d->attach, conn_id(c));
	free(s);
	daemon_rearm(d);
}

struct event_line {
	char *text;
};

static void send_event(struct conn *c, void *arg)
{
	const struct session *s = conn_data(c);
	const struct event_line *line = arg;

	if (s && s->watches_pods)
		conn_send(c, line->text, strlen(line->text), -1);
}

static void look_for_watcher(struct conn *c, void *arg)
{
	const struct session *s = conn_data(c);

	if (s && s->watches_pods)
		*(bool *)arg = true;
}

void control_pod_event(struct daemon *d, const char *event, const struct attachment *at)
{
	_cleanup_(jput_freep) struct jput *j = NULL;
	struct event_line line;
	struct counters_sum sum;
	bool watched = false;

	if (!d->server)
		return;
	server_foreach(d->server, look_for_watcher, &watched);
	if (!watched)
		return;
	counters_sum_port(at->port_id, &sum);
	j = jput_new();
	jput_object(j, NULL);
	jput_string(j, "event", event);
	attach_api_row(j, "item", at, &sum);
	jput_end(j);
	line.text = jput_take(j);
	if (line.text)
		server_foreach(d->server, send_event, &line);
	free(line.text);
}
