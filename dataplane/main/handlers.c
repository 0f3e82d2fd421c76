// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "features/attach/attach_api.h"
#include "main/apply.h"
#include "main/control.h"
#include "main/rows.h"
#include "main/status.h"

#define PROBLEMS_BYTES_MAX (64u << 10)
#define AGE_MAX_S (100ll * 365 * 86400)

LOG_MODULE("control");

// ---- hello ----

static int hello(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	const struct jrange any = {INT64_MIN, INT64_MAX};
	struct session *s = rq->session;
	int64_t min = 0, max = 0;
	const char *who = "";

	if (jget_int(rq->msg, "min", JREQUIRED, any, &min, err) < 0 ||
	    jget_int(rq->msg, "max", JREQUIRED, any, &max, err) < 0 ||
	    jget_string(rq->msg, "who", JREQUIRED, &who, err) < 0)
		return -EINVAL;
	if (min > API_VERSION || max < API_VERSION)
		return err_set_code(err, 1, 0,
				    "this weftd speaks protocol version %d, not %lld..%lld",
				    API_VERSION, (long long)min, (long long)max);
	snprintf(s->who, sizeof(s->who), "%s", who);
	s->greeted = true;
	conn_greeted(s->conn);
	if (strcmp(who, "weft-agent") == 0) {
		s->is_agent = true;
		d->agent.connections++;
		conn_keep(s->conn);
		LOG_INFO("weft-agent is connected", "connections=%u", d->agent.connections);
	}
	jput_int(reply, "version", API_VERSION);
	jput_string(reply, "weftd", WEFT_VERSION);
	return 0;
}

// ---- attachments ----

static int attach(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	rq->fd = hostnet_netns(d->hostnet);
	return attach_api_attach(d->attach, rq->msg, conn_id(rq->session->conn), reply, err);
}

static void fill_activated(struct jput *reply, const void *at)
{
	attach_api_activated(at, reply);
}

static void activate_done(const struct attachment *at, const struct err *err, void *session)
{
	control_answer(session, err, fill_activated, at);
}

static int activate(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	const struct attach_api_wait wait = {
		.owner = conn_id(rq->session->conn),
		.done = activate_done,
		.arg = rq->session,
	};
	int r = attach_api_activate(d->attach, rq->msg, &wait, reply, err);

	return r == ATTACH_WAITS ? CONTROL_LATER : r;
}

static int detach(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	return attach_api_detach(d->attach, rq->msg, reply, err);
}

static int check(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	(void)reply;
	return attach_api_check(d->attach, rq->msg, err);
}

static int gc(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	return attach_api_gc(d->attach, rq->msg, reply, err);
}

// ---- state ----

static int ready(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	const char *why = status_not_ready(d);

	(void)rq;
	(void)err;
	jput_bool(reply, "ready", why == NULL);
	if (why) {
		jput_int(reply, "code", 50);
		jput_string(reply, "msg", why);
	}
	return 0;
}

static int check_problems(const struct jval *list, struct err *err)
{
	for (size_t i = 0; i < jarray_len(list); i++) {
		struct jval e = jarray_at(list, i);
		const char *text;
		int r = jget_string(&e, "what", JREQUIRED, &text, err);

		if (r == 0)
			r = jget_string(&e, "hint", JREQUIRED, &text, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int report(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	struct jval problems = {0};
	int64_t age = -1;
	bool synced = false;
	char *text = NULL;
	int r = jget_bool(rq->msg, "synced", JREQUIRED, &synced, err);

	(void)reply;
	if (r == 0)
		r = jget_int(rq->msg, "last_event_age_s", JOPTIONAL, (struct jrange){0, AGE_MAX_S},
			     &age, err);
	if (r == 0)
		r = jget_array(rq->msg, "problems", JOPTIONAL, &problems, err);
	if (r == 0)
		r = check_problems(&problems, err);
	if (r < 0)
		return r;
	if (!jval_is_null(&problems)) {
		text = jval_text(&problems);
		if (!text || strlen(text) > PROBLEMS_BYTES_MAX) {
			free(text);
			return err_set(err, 0, "$.problems: too long");
		}
	}
	free(d->agent.problems);
	d->agent.problems = text;
	d->agent.synced = synced;
	d->agent.event_age_s = age;
	d->agent.reported_ns = clock_now_ns();
	return 0;
}

static int get(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	int64_t after = 0;
	const char *object;
	int r = jget_string(rq->msg, "object", JREQUIRED, &object, err);

	if (r == 0)
		r = jget_int(rq->msg, "after", JOPTIONAL, (struct jrange){0, INT64_MAX}, &after,
			     err);
	return r < 0 ? r : rows_get(d, object, (uint64_t)after, reply, err);
}

static int watch(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	const char *object;
	int r = jget_string(rq->msg, "object", JREQUIRED, &object, err);

	if (r < 0)
		return r;
	if (strcmp(object, "pod") != 0)
		return err_set(err, 0, "$.object: only pod can be watched");
	rows_all_pods(d, reply);
	rq->session->watches_pods = true;
	conn_keep(rq->session->conn);
	return 0;
}

control_fn *const control_handlers[MSG_COUNT] = {
	[MSG_HELLO] = hello,       [MSG_ATTACH] = attach,
	[MSG_ACTIVATE] = activate, [MSG_DETACH] = detach,
	[MSG_CHECK] = check,       [MSG_GC] = gc,
	[MSG_READY] = ready,       [MSG_BEGIN_SYNC] = apply_begin_sync,
	[MSG_APPLY] = apply_ops,   [MSG_END_SYNC] = apply_end_sync,
	[MSG_REPORT] = report,     [MSG_GET] = get,
	[MSG_WATCH] = watch,
};
