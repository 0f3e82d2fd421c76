// SPDX-License-Identifier: Apache-2.0
#include "agent.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cniconf/conflist.h"
#include "compile/compile.h"
#include "health/health.h"
#include "json/jput.h"
#include "model/store.h"
#include "report/problems.h"
#include "source/manifests.h"
#include "sync/sync.h"

LOG_MODULE("agent");

// The age of the last event is told at most this often when nothing else is new.
#define REPORT_EVENT_MS 1000
#define SCOPE_CONFLIST "CNI configuration"
#define SCOPE_NODE "own node"
#define SCOPE_REFUSED "weftd "

struct agent {
	const struct config *config;
	struct event_base *base;
	struct event *on_term, *on_int, *on_report;
	struct source *source;
	struct store *store;
	struct compile_env env;
	struct differ *differ;
	struct sync *sync;
	struct sync_hooks sync_hooks;
	struct problems *problems;
	struct conflist *conflist;
	struct health *health, *metrics;
	uint64_t last_event_ns;
	uint64_t events; // objects set or deleted by the source
	bool is_source_synced;
};

// ---- problems ----

static void problems_changed(struct agent *a, bool is_changed)
{
	if (is_changed && a->sync)
		sync_report_due(a->sync);
}

static void set_problem(struct agent *a, const char *scope, const char *what, const char *hint)
{
	bool is_changed = problems_set_one(a->problems, scope, what, hint);

	if (is_changed && what)
		LOG_WARN("problem", "what=%s", what);
	problems_changed(a, is_changed);
}

static void on_problems(void *arg, const char *scope, const struct problem_list *list)
{
	struct agent *a = arg;
	bool is_changed = problems_set(a->problems, scope, list);

	for (size_t i = 0; is_changed && i < list->count; i++)
		LOG_WARN("problem", "what=%s", list->at[i].what);
	if (is_changed && list->count == 0)
		LOG_INFO("problem solved", "scope=%s", scope);
	problems_changed(a, is_changed);
}

// The scope under which a refusal of the object is filed.
static const char *refused_scope(const char *key, char *out, size_t size)
{
	(void)snprintf(out, size, SCOPE_REFUSED "%s", key);
	return out;
}

static void forget_refusal(struct agent *a, const char *key)
{
	char scope[OBJECT_KEY_MAX + sizeof(SCOPE_REFUSED)];

	set_problem(a, refused_scope(key, scope, sizeof(scope)), NULL, NULL);
}

// ---- source ----

static void note_event(struct agent *a)
{
	struct timeval tv = {.tv_sec = REPORT_EVENT_MS / 1000};

	a->last_event_ns = clock_now_ns();
	a->events++;
	if (!evtimer_pending(a->on_report, NULL))
		evtimer_add(a->on_report, &tv);
}

// Memory ran out for one object: weftd keeps the old one, and status says so.
static void lost_object(struct agent *a, const char *key)
{
	set_problem(a, key, "an object could not be taken over: out of memory",
		    "free memory and restart the agent");
}

static void on_set(void *arg, struct object *obj)
{
	struct agent *a = arg;
	char key[OBJECT_KEY_MAX];
	char *text = NULL;
	int r = store_set(a->store, obj);

	if (r == STORE_SAME)
		return;
	object_key(obj, key);
	note_event(a);
	if (r == STORE_CHANGED)
		r = compile_set(obj, &a->env, &text);
	if (r == COMPILE_DONE)
		r = differ_set(a->differ, key, text);
	if (r < 0) {
		lost_object(a, key);
		return;
	}
	forget_refusal(a, key);
	sync_kick(a->sync);
}

static void on_del(void *arg, const struct object *obj)
{
	struct agent *a = arg;
	char key[OBJECT_KEY_MAX];
	char *text = NULL;
	int r;

	object_key(obj, key);
	if (!store_del(a->store, obj->kind, key))
		return;
	note_event(a);
	r = compile_del(obj, &text);
	if (r == COMPILE_DONE)
		r = differ_del(a->differ, key, text);
	if (r < 0) {
		lost_object(a, key);
		return;
	}
	forget_refusal(a, key);
	sync_kick(a->sync);
}

static void on_synced(void *arg)
{
	struct agent *a = arg;

	a->is_source_synced = true;
	a->last_event_ns = clock_now_ns();
	LOG_INFO("source is read", "source=%s nodes=%zu namespaces=%zu pods=%zu",
		 a->source->ops->name, store_len(a->store, OBJECT_NODE),
		 store_len(a->store, OBJECT_NAMESPACE), store_len(a->store, OBJECT_POD));
	sync_report_due(a->sync);
	sync_set_complete(a->sync);
}

// ---- weftd ----

static char *make_report(void *arg)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	struct agent *a = arg;

	if (!j)
		return NULL;
	jput_object(j, NULL);
	jput_string(j, "type", "report");
	jput_bool(j, "synced", a->is_source_synced);
	if (a->last_event_ns)
		jput_int(j, "last_event_age_s",
			 (int64_t)((clock_now_ns() - a->last_event_ns) / NS_PER_SEC));
	problems_put(a->problems, j);
	jput_end(j);
	return jput_take(j);
}

// weftd may be given all it needs by hand; only when it is not ready does a missing Node matter.
static void judge_node(struct agent *a, bool is_ready)
{
	char key[OBJECT_KEY_MAX], what[OBJECT_KEY_MAX + 64];
	bool is_known;

	(void)snprintf(key, sizeof(key), "node/%s", a->config->node);
	is_known = store_get(a->store, OBJECT_NODE, key);
	(void)snprintf(what, sizeof(what), "there is no Node object named %s", a->config->node);
	set_problem(a, SCOPE_NODE, is_ready || is_known ? NULL : what,
		    "add it, or correct the agent's --node");
}

static void on_ready(void *arg, bool is_ready, const char *why)
{
	struct agent *a = arg;

	if (!sync_stats_get(a->sync)->is_synced)
		return;
	if (!is_ready)
		LOG_DEBUG("weftd is not ready", "reason=%s", why);
	judge_node(a, is_ready);
	if (is_ready && a->conflist)
		conflist_install(a->conflist);
}

static void on_refused(void *arg, const char *key, const char *why)
{
	struct agent *a = arg;
	char scope[OBJECT_KEY_MAX + sizeof(SCOPE_REFUSED)], what[PROBLEM_TEXT_MAX];

	if (!key) {
		problems_changed(a, problems_clear_prefix(a->problems, SCOPE_REFUSED));
		return;
	}
	(void)snprintf(what, sizeof(what), "weftd refuses %s: %s", key, why);
	set_problem(a, refused_scope(key, scope, sizeof(scope)), what,
		    "correct the object; weftd keeps the version it had");
}

static void on_conflist_trouble(void *arg, const struct err *err)
{
	set_problem(arg, SCOPE_CONFLIST, err ? err->text : NULL,
		    "the agent tries again every second; see --cni-conf-dir");
}

static void on_report(evutil_socket_t fd UNUSED, short what UNUSED, void *arg)
{
	struct agent *a = arg;

	sync_report_due(a->sync);
}

// ---- health ----

static bool is_ready(void *arg)
{
	struct agent *a = arg;

	return a->is_source_synced && sync_stats_get(a->sync)->is_synced;
}

static void put_metrics(void *arg, void (*put)(void *to, const struct health_metric *m), void *to)
{
	struct agent *a = arg;
	const struct sync_stats *s = sync_stats_get(a->sync);
	const struct health_metric metrics[] = {
		{"weft_agent_dataplane_connected", "1 while weftd answers.", false,
		 s->is_connected},
		{"weft_agent_dataplane_synced", "1 while weftd is in step.", false, s->is_synced},
		{"weft_agent_source_synced", "1 once the source was read.", false,
		 a->is_source_synced},
		{"weft_agent_connects_total", "Connections to weftd.", true, (double)s->connects},
		{"weft_agent_resyncs_total", "Full syncs with weftd.", true, (double)s->resyncs},
		{"weft_agent_operations_total", "Operations that weftd took.", true,
		 (double)s->applied},
		{"weft_agent_operations_refused_total", "Operations that weftd refused.", true,
		 (double)s->refused},
		{"weft_agent_events_total", "Object changes from the source.", true,
		 (double)a->events},
		{"weft_agent_nodes", "Node objects.", false,
		 (double)store_len(a->store, OBJECT_NODE)},
		{"weft_agent_pods", "Pod objects.", false, (double)store_len(a->store, OBJECT_POD)},
		{"weft_agent_operations_waiting", "Operations weftd has not taken yet.", false,
		 (double)differ_waiting(a->differ)},
		{"weft_agent_problems", "Problems as weftctl status shows them.", false,
		 (double)problems_len(a->problems)},
	};

	for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
		put(to, &metrics[i]);
}

static int start_health(struct agent *a, struct err *err)
{
	const struct config *c = a->config;
	struct health_hooks hooks = {.is_ready = is_ready, .metrics = put_metrics, .arg = a};
	int r = 0;

	if (c->health)
		r = health_new(a->base, c->health, &hooks, &a->health, err);
	// One server answers both when they share the address.
	if (r == 0 && c->metrics && (!c->health || strcmp(c->health, c->metrics) != 0))
		r = health_new(a->base, c->metrics, &hooks, &a->metrics, err);
	return r;
}

// ---- life ----

static void on_signal(evutil_socket_t sig, short what UNUSED, void *arg)
{
	struct agent *a = arg;

	LOG_INFO("stopping", "signal=%d", (int)sig);
	event_base_loopbreak(a->base);
}

static int init_events(struct agent *a)
{
	a->base = event_base_new();
	if (!a->base)
		return -ENOMEM;
	a->on_term = evsignal_new(a->base, SIGTERM, on_signal, a);
	a->on_int = evsignal_new(a->base, SIGINT, on_signal, a);
	a->on_report = evtimer_new(a->base, on_report, a);
	if (!a->on_term || !a->on_int || !a->on_report || event_add(a->on_term, NULL) < 0 ||
	    event_add(a->on_int, NULL) < 0)
		return -ENOMEM;
	return 0;
}

static int init_model(struct agent *a)
{
	a->store = store_new();
	a->differ = differ_new();
	a->problems = problems_new();
	if (!a->store || !a->differ || !a->problems)
		return -ENOMEM;
	a->env.self = a->config->node;
	a->sync_hooks = (struct sync_hooks){
		.report = make_report, .ready = on_ready, .refused = on_refused, .arg = a};
	return sync_new(a->base, a->config->run_dir, a->differ, &a->sync_hooks, &a->sync);
}

static int init_edges(struct agent *a, struct err *err)
{
	const struct config *c = a->config;
	struct source_sink sink = {.set = on_set,
				   .del = on_del,
				   .synced = on_synced,
				   .problems = on_problems,
				   .arg = a};
	struct conflist_paths paths = {
		.dir = c->cni_conf_dir, .name = c->cni_conf_name, .run_dir = c->run_dir};
	struct conflist_hooks hooks = {.trouble = on_conflist_trouble, .arg = a};
	int r = 0;

	if (c->cni_conf_dir)
		r = conflist_new(a->base, &paths, &hooks, &a->conflist, err);
	if (r == 0)
		r = start_health(a, err);
	return r < 0 ? r : manifests_new(a->base, c->manifests, &sink, &a->source, err);
}

int agent_new(const struct config *config, struct agent **ret_agent, struct err *err)
{
	struct agent *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return err_set(err, ENOMEM, "start");
	a->config = config;
	r = init_events(a);
	if (r == 0)
		r = init_model(a);
	if (r < 0)
		err_set(err, -r, "start");
	else
		r = init_edges(a, err);
	if (r < 0) {
		agent_free(a);
		return r;
	}
	*ret_agent = a;
	return 0;
}

int agent_run(struct agent *a, struct err *err)
{
	int r;

	LOG_INFO("starting", "version=%s node=%s run_dir=%s", WEFT_VERSION, a->config->node,
		 a->config->run_dir);
	r = a->source->ops->start(a->source, err);
	if (r < 0)
		return r;
	sync_start(a->sync);
	return event_base_dispatch(a->base) < 0 ? err_set(err, EIO, "event loop") : 0;
}

static void event_freep(struct event *ev)
{
	if (ev)
		event_free(ev);
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	if (a->source)
		a->source->ops->stop(a->source);
	health_free(a->health);
	health_free(a->metrics);
	conflist_free(a->conflist);
	sync_free(a->sync);
	differ_free(a->differ);
	store_free(a->store);
	problems_free(a->problems);
	event_freep(a->on_term);
	event_freep(a->on_int);
	event_freep(a->on_report);
	if (a->base)
		event_base_free(a->base);
	free(a);
}
