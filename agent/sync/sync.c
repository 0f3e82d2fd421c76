// SPDX-License-Identifier: Apache-2.0
#include "sync/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/msg.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "model/object.h"
#include "sync/conn.h"
#include "sync/reply.h"

LOG_MODULE("agent.sync");

#define SOCKET_NAME "weftd.sock"
#define CODE_TRY_AGAIN 11

// Where the running connection stands.
enum phase {
	PHASE_HELLO,  // nothing agreed yet
	PHASE_FRESH,  // hello is done; begin-sync waits for the source
	PHASE_REPEAT, // between begin-sync and end-sync
	PHASE_STEADY, // only changes
};

struct sync {
	struct conn *conn;
	struct differ *differ;
	struct conn_hooks conn_hooks;
	const struct sync_hooks *hooks;
	struct event *on_kick;  // runs pump
	struct event *on_reply; // no reply came
	struct event *on_pause; // end of a pause
	struct event *on_ready; // time to ask again
	enum phase phase;
	enum msg_type flying; // request without a reply; MSG_COUNT = none
	size_t batch_max;     // ops in the next apply; falls when weftd refuses one
	bool is_complete, is_paused, is_report_due, is_ready_due;
	struct sync_stats stats;
};

static void start_timer(struct event *timer, unsigned ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};

	evtimer_add(timer, &tv);
}

void sync_kick(struct sync *s)
{
	event_active(s->on_kick, EV_TIMEOUT, 0);
}

static void pause_for(struct sync *s, unsigned ms)
{
	s->is_paused = true;
	start_timer(s->on_pause, ms);
}

static void send_text(struct sync *s, enum msg_type type, const char *text)
{
	s->flying = type;
	start_timer(s->on_reply, SYNC_REPLY_MS);
	conn_send(s->conn, text, strlen(text));
}

// A request without fields.
static void send_bare(struct sync *s, enum msg_type type)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "{\"type\":\"%s\"}", msg_table[type].name);
	send_text(s, type, text);
}

static void send_hello(struct sync *s)
{
	char text[128];

	(void)snprintf(text, sizeof(text),
		       "{\"type\":\"hello\",\"min\":%d,\"max\":%d,\"who\":\"weft-agent\"}",
		       API_VERSION, API_VERSION);
	send_text(s, MSG_HELLO, text);
}

static void send_begin(struct sync *s)
{
	differ_resync(s->differ);
	s->batch_max = SYNC_BATCH_OPS;
	s->hooks->refused(s->hooks->arg, NULL, NULL);
	s->phase = PHASE_REPEAT;
	send_bare(s, MSG_BEGIN_SYNC);
}

static void send_apply(struct sync *s)
{
	_cleanup_(buf_fini) struct buf ops = BUF_INIT(SYNC_BATCH_BYTES);
	_cleanup_(buf_fini) struct buf text = BUF_INIT(SYNC_BATCH_BYTES + 64);

	if (differ_take(s->differ, s->batch_max, &ops) == 0 ||
	    buf_addf(&text, "{\"type\":\"apply\",\"ops\":[%s]}", ops.data) < 0) {
		LOG_ERR_LIMIT("out of memory", "retry_ms=%d", SYNC_BUSY_MS);
		differ_nack(s->differ);
		pause_for(s, SYNC_BUSY_MS);
		return;
	}
	send_text(s, MSG_APPLY, text.data);
}

static void send_report(struct sync *s)
{
	_free_ char *text = s->hooks->report(s->hooks->arg);

	s->is_report_due = false;
	if (text)
		send_text(s, MSG_REPORT, text);
	else
		LOG_ERR_LIMIT("out of memory", "lost=report");
}

static void send_ready(struct sync *s)
{
	s->is_ready_due = false;
	send_bare(s, MSG_READY);
}

// Sends the next request when none is in flight: the order of these lines is the protocol.
static void pump(struct sync *s)
{
	if (!conn_is_up(s->conn) || s->flying != MSG_COUNT || s->is_paused)
		return;
	if (s->phase == PHASE_HELLO)
		send_hello(s);
	else if (s->phase == PHASE_FRESH && s->is_complete)
		send_begin(s);
	else if (s->phase >= PHASE_REPEAT && differ_waiting(s->differ) > 0)
		send_apply(s);
	else if (s->phase == PHASE_REPEAT)
		send_bare(s, MSG_END_SYNC);
	else if (s->is_report_due)
		send_report(s);
	else if (s->is_ready_due)
		send_ready(s);
}

static void on_kick(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	pump(arg);
}

static void on_pause(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct sync *s = arg;

	s->is_paused = false;
	pump(s);
}

static void on_ready(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct sync *s = arg;

	s->is_ready_due = true;
	pump(s);
}

static void on_silence(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct sync *s = arg;

	conn_drop(s->conn, "no reply in time");
}

// ---- replies ----

static void hello_done(struct sync *s, const struct reply *reply)
{
	s->phase = PHASE_FRESH;
	s->is_report_due = true;
	s->is_ready_due = true;
	s->stats.is_connected = true;
	s->stats.connects++;
	LOG_INFO("connected to weftd", "version=%s", reply_string(reply, "weftd", "unknown"));
}

static void end_done(struct sync *s, const struct reply *reply)
{
	s->phase = PHASE_STEADY;
	s->is_ready_due = true;
	s->stats.is_synced = true;
	s->stats.resyncs++;
	conn_settled(s->conn);
	LOG_INFO("weftd is in step", "objects=%zu removed=%ld", differ_len(s->differ),
		 reply_int(reply, "removed", 0));
}

static void apply_done(struct sync *s, const struct reply *reply)
{
	differ_ack(s->differ);
	s->stats.applied += (uint64_t)reply_int(reply, "applied", 0);
	if (s->batch_max < SYNC_BATCH_OPS)
		s->batch_max =
			s->batch_max * 2 > SYNC_BATCH_OPS ? SYNC_BATCH_OPS : s->batch_max * 2;
}

static void ready_done(struct sync *s, const struct reply *reply)
{
	bool is_ready = reply_bool(reply, "ready", false);

	if (!is_ready)
		start_timer(s->on_ready, SYNC_READY_MS);
	s->hooks->ready(s->hooks->arg, is_ready, is_ready ? "" : reply_string(reply, "msg", ""));
}

// weftd takes all of a batch or nothing: halve it until the op it does not like stands alone.
static void apply_failed(struct sync *s, const struct reply *reply)
{
	size_t count = differ_taken(s->differ);
	char key[OBJECT_KEY_MAX];

	if (count > 1) {
		s->batch_max = count / 2;
		differ_nack(s->differ);
		return;
	}
	differ_refuse(s->differ, key, sizeof(key));
	s->stats.refused++;
	LOG_WARN("weftd refuses an object", "object=%s reason=%s", key, reply->text);
	s->hooks->refused(s->hooks->arg, key, reply->text);
}

static void on_ok(struct sync *s, enum msg_type type, const struct reply *reply)
{
	if (type == MSG_HELLO)
		hello_done(s, reply);
	else if (type == MSG_APPLY)
		apply_done(s, reply);
	else if (type == MSG_END_SYNC)
		end_done(s, reply);
	else if (type == MSG_READY)
		ready_done(s, reply);
}

static void on_error(struct sync *s, enum msg_type type, const struct reply *reply)
{
	bool is_busy = reply->code == CODE_TRY_AGAIN;

	if (is_busy)
		pause_for(s, SYNC_BUSY_MS);
	if (type == MSG_APPLY && is_busy) {
		differ_nack(s->differ);
	} else if (type == MSG_APPLY) {
		apply_failed(s, reply);
	} else if (type == MSG_REPORT || type == MSG_READY) {
		// Not vital: said again with the next change, or asked again.
		LOG_WARN_LIMIT("weftd refuses a request", "type=%s reason=%s", msg_table[type].name,
			       reply->text);
		s->is_report_due = is_busy && type == MSG_REPORT;
		if (type == MSG_READY)
			start_timer(s->on_ready, SYNC_READY_MS);
	} else {
		LOG_ERR_LIMIT("weftd refuses to sync", "type=%s reason=%s", msg_table[type].name,
			      reply->text);
		conn_drop(s->conn, "it refuses to sync");
	}
}

static void on_line(void *arg, const char *text, size_t len)
{
	_cleanup_(reply_fini) struct reply reply = {0};
	struct sync *s = arg;
	enum msg_type type = s->flying;

	if (type == MSG_COUNT || reply_parse(text, len, &reply) < 0) {
		conn_drop(s->conn, "it sends what is no reply");
		return;
	}
	s->flying = MSG_COUNT;
	evtimer_del(s->on_reply);
	if (reply.is_ok)
		on_ok(s, type, &reply);
	else
		on_error(s, type, &reply);
	pump(s);
}

static void on_up(void *arg)
{
	struct sync *s = arg;

	s->phase = PHASE_HELLO;
	s->flying = MSG_COUNT;
	pump(s);
}

static void on_down(void *arg, bool was_up, const char *why)
{
	struct sync *s = arg;

	if (was_up)
		LOG_WARN_LIMIT("lost weftd, connecting again", "reason=%s", why);
	else
		LOG_DEBUG("weftd is away", "reason=%s", why);
	differ_nack(s->differ); // what it took is unknown, and repeated in full anyhow
	s->phase = PHASE_HELLO;
	s->flying = MSG_COUNT;
	s->is_paused = s->is_ready_due = false;
	s->stats.is_connected = s->stats.is_synced = false;
	evtimer_del(s->on_reply);
	evtimer_del(s->on_pause);
	evtimer_del(s->on_ready);
}

// ---- life ----

static int sync_init(struct sync *s, struct event_base *base, const char *run_dir)
{
	_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", run_dir, SOCKET_NAME) < 0)
		return -ENOMEM;
	s->on_kick = event_new(base, -1, 0, on_kick, s);
	s->on_reply = evtimer_new(base, on_silence, s);
	s->on_pause = evtimer_new(base, on_pause, s);
	s->on_ready = evtimer_new(base, on_ready, s);
	if (!s->on_kick || !s->on_reply || !s->on_pause || !s->on_ready)
		return -ENOMEM;
	s->conn_hooks =
		(struct conn_hooks){.up = on_up, .line = on_line, .down = on_down, .arg = s};
	return conn_new(base, path, &s->conn_hooks, &s->conn);
}

int sync_new(struct event_base *base, const char *run_dir, struct differ *differ,
	     const struct sync_hooks *hooks, struct sync **ret_sync)
{
	struct sync *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->differ = differ;
	s->hooks = hooks;
	s->flying = MSG_COUNT;
	s->batch_max = SYNC_BATCH_OPS;
	if (sync_init(s, base, run_dir) < 0) {
		sync_free(s);
		return -ENOMEM;
	}
	*ret_sync = s;
	return 0;
}

void sync_start(struct sync *s)
{
	conn_start(s->conn);
}

void sync_free(struct sync *s)
{
	struct event *events[] = {s ? s->on_kick : NULL, s ? s->on_reply : NULL,
				  s ? s->on_pause : NULL, s ? s->on_ready : NULL};

	if (!s)
		return;
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (events[i])
			event_free(events[i]);
	conn_free(s->conn);
	free(s);
}

void sync_set_complete(struct sync *s)
{
	s->is_complete = true;
	sync_kick(s);
}

void sync_report_due(struct sync *s)
{
	s->is_report_due = true;
	sync_kick(s);
}

const struct sync_stats *sync_stats_get(const struct sync *s)
{
	return &s->stats;
}
