// SPDX-License-Identifier: Apache-2.0
#include "main/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PROBLEMS_MAX 16
#define TEXT_MAX 320

struct problem {
	char what[TEXT_MAX];
	const char *hint;
};

struct problems {
	size_t count;
	struct problem list[PROBLEMS_MAX];
};

static void add(struct problems *p, const char *hint, const char *fmt, ...) PRINTF_FORMAT(3, 4);
static void add(struct problems *p, const char *hint, const char *fmt, ...)
{
	va_list ap;

	if (p->count == PROBLEMS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(p->list[p->count].what, TEXT_MAX, fmt, ap);
	va_end(ap);
	p->list[p->count++].hint = hint;
}

static void find_agent(const struct daemon *d, struct problems *p)
{
	if (d->options.standalone)
		return;
	if (d->agent.connections == 0)
		add(p, "start weft-agent, or weftd with --standalone; running pods go on",
		    "weft-agent is not connected");
	else if (!d->agent.synced)
		add(p, "see weft-agent's log for what it waits for",
		    "weft-agent has not read all objects yet");
}

static void find_attach(const struct daemon *d, struct problems *p)
{
	struct attach_health h;

	attach_health(d->attach, &h);
	if (h.journal_problem[0])
		add(p,
		    "make room on, or repair, the file system of --state-dir; no pod can be added",
		    "the journal cannot be written: %s", h.journal_problem);
	if (h.damaged)
		add(p, "see the log and STATE_DIR/journal.bad; restart pods that are named there",
		    "the journal was damaged at start: %u lines", h.corrupt_lines);
	if (h.unknown_links)
		add(p, "restart the pods whose links the log names",
		    "%u pods run without a record of their addresses", h.unknown_links);
}

static void find_net(const struct daemon *d, struct problems *p)
{
	const char *fallback = rx_group_fallback_reason(d->rx);

	if (d->net.range_count == 0)
		add(p, "give --pod-cidr, or let the agent announce the node's podCIDRs",
		    "the node has no pod range");
	if (d->net.problem[0])
		add(p, "see the log", "%s", d->net.problem);
	if (fallback[0] && d->options.rx == RX_MODE_AUTO)
		add(p, "works, but slower; see `weftctl check node`", "receive falls back: %s",
		    fallback);
}

static bool put_agent_problems(const struct daemon *d, struct jput *j)
{
	const struct jlimits limits = {.bytes = 1u << 20, .depth = 16};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jval list;

	if (!d->agent.problems || d->agent.connections == 0 ||
	    jdoc_parse(d->agent.problems, strlen(d->agent.problems), &limits, &doc, NULL) < 0)
		return false;
	list = jdoc_root(doc);
	for (size_t i = 0; i < jarray_len(&list); i++) {
		struct jval e = jarray_at(&list, i);

		jput_value(j, NULL, &e);
	}
	return jarray_len(&list) > 0;
}

static void put_problems(const struct daemon *d, struct jput *j)
{
	struct problems p = {0};
	bool any;

	find_agent(d, &p);
	find_attach(d, &p);
	find_net(d, &p);
	jput_array(j, "problems");
	for (size_t i = 0; i < p.count; i++) {
		jput_object(j, NULL);
		jput_string(j, "what", p.list[i].what);
		jput_string(j, "hint", p.list[i].hint);
		jput_end(j);
	}
	any = put_agent_problems(d, j) || p.count > 0;
	jput_end(j);
	jput_string(j, "state", any ? "degraded" : "ok");
}

static void put_agent(const struct daemon *d, struct jput *j, uint64_t now_ns)
{
	const struct daemon_agent *a = &d->agent;

	jput_object(j, "agent");
	jput_bool(j, "connected", a->connections > 0);
	jput_bool(j, "synced", a->connections > 0 && a->synced);
	if (a->event_age_s >= 0)
		jput_int(j, "last_event_age_s",
			 a->event_age_s + (int64_t)((now_ns - a->reported_ns) / NS_PER_SEC));
	else
		jput_null(j, "last_event_age_s");
	jput_end(j);
}

static void put_net(const struct daemon *d, struct jput *j)
{
	jput_object(j, "uplink");
	jput_string(j, "kind", "none");
	jput_string(j, "name", "");
	jput_int(j, "mtu", 0);
	jput_end(j);
	jput_int(j, "pod_mtu", d->net.mtu);
	jput_array(j, "pod_cidrs");
	for (size_t i = 0; i < d->net.range_count; i++)
		jput_ipprefix(j, NULL, &d->net.ranges[i]);
	jput_end(j);
	jput_array(j, "node_ips");
	for (size_t i = 0; i < d->net.ip_count; i++)
		jput_ipaddr(j, NULL, &d->net.ips[i]);
	jput_end(j);
	jput_string(j, "rx", rx_group_mode(d->rx) == RX_MODE_LANES ? "lanes" : "mmsg");
}

static unsigned count_pods(const struct daemon *d)
{
	unsigned n = 0;

	for (uint16_t id = 0; id < PORT_MAX; id++)
		n += attach_by_port(d->attach, id) != NULL;
	return n;
}

void status_row(struct daemon *d, struct jput *j)
{
	const struct node *self = node_table_self(d->nodes);
	uint64_t now = clock_now_ns();

	jput_object(j, NULL);
	put_problems(d, j);
	jput_string(j, "version", WEFT_VERSION);
	jput_u64(j, "uptime_s", (now - d->start_ns) / NS_PER_SEC);
	jput_string(j, "node", self ? self->name : d->node_name);
	put_agent(d, j, now);
	put_net(d, j);
	jput_u64(j, "pods", count_pods(d));
	jput_u64(j, "ports", ports_count(d->ports));
	jput_u64(j, "restarts", d->restarts);
	jput_end(j);
}

// True where a family that the node has ranges of is used up.
static bool is_full(const struct daemon *d, bool v4)
{
	struct ipam *ipam = attach_ipam(d->attach);
	bool any = false;

	for (size_t i = 0; i < ipam_range_count(ipam); i++) {
		struct ipam_usage u;

		ipam_usage(ipam, i, &u);
		if (ipaddr_is_v4(&u.prefix.addr) != v4)
			continue;
		any = true;
		if (u.used < u.total)
			return false;
	}
	return any;
}

const char *status_not_ready(const struct daemon *d)
{
	struct attach_health h;

	attach_health(d->attach, &h);
	if (h.journal_problem[0])
		return "the journal of addresses cannot be written";
	if (!d->options.standalone && (d->agent.connections == 0 || !d->agent.synced_once))
		return "weft-agent is not connected, or not synced yet";
	if (d->net.range_count == 0)
		return "the node has no pod range yet";
	if (is_full(d, true) || is_full(d, false))
		return "all addresses of the node's pod ranges are in use";
	return NULL;
}
