// SPDX-License-Identifier: Apache-2.0
#include "main/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "core/counters.h"
#include "features/attach/attach_api.h"
#include "features/node/node_api.h"
#include "main/flow_text.h"
#include "main/status.h"
#include "main/worker_row.h"

#define OWNER_MAX 320 // a namespace of 63, a name of 253 characters

// A page being written: rows come with rising cursors, those up to after are skipped.
struct page {
	struct daemon *d;
	struct jput *j;
	uint64_t after, last; // cursor of the last row written
	unsigned count;
	bool more;
};

// True where the row of this cursor is to be written.
static bool page_takes(struct page *p, uint64_t cursor)
{
	if (cursor <= p->after)
		return false;
	if (p->count == ROWS_PAGE) {
		p->more = true;
		return false;
	}
	p->count++;
	p->last = cursor;
	return true;
}

// ---- pod ----

static void pod_rows(struct page *p)
{
	for (uint16_t id = 1; id < PORT_MAX && !p->more; id++) {
		const struct attachment *at = attach_by_port(p->d->attach, id);
		struct counters_sum sum;

		if (!at || !page_takes(p, id))
			continue;
		counters_sum_port(id, &sum);
		attach_api_row(p->j, NULL, at, &sum);
	}
}

void rows_all_pods(struct daemon *d, struct jput *reply)
{
	jput_array(reply, "items");
	for (uint16_t id = 1; id < PORT_MAX; id++) {
		const struct attachment *at = attach_by_port(d->attach, id);
		struct counters_sum sum;

		if (!at)
			continue;
		counters_sum_port(id, &sum);
		attach_api_row(reply, NULL, at, &sum);
	}
	jput_end(reply);
}

// ---- port ----

static const char *const kind_names[] = {
	[PORT_KIND_POD] = "pod", [PORT_KIND_HOST] = "host", [PORT_KIND_UPLINK] = "uplink"};

static uint64_t sum_drops(const struct counters_sum *sum, bool tx)
{
	uint64_t n = 0;

	for (int i = 0; i < DROP_COUNT; i++)
		if (drop_table[i].is_tx == tx)
			n += sum->drops[i];
	return n;
}

// "NAMESPACE/NAME" of the pod behind a port, "" where there is none.
static const char *owner_of(const struct page *p, uint16_t id, char *out, size_t size)
{
	const struct attachment *at = attach_by_port(p->d->attach, id);

	if (!at || at->pod_name[0] == '\0')
		return "";
	snprintf(out, size, "%s/%s", at->pod_namespace, at->pod_name);
	return out;
}

static void port_row(struct page *p, const struct port *port)
{
	enum rx_lane lane = rx_port_lane(p->d->rx, port->ifindex);
	struct counters_sum sum;
	char owner[OWNER_MAX];

	counters_sum_port(port->id, &sum);
	jput_object(p->j, NULL);
	jput_int(p->j, "id", port->id);
	jput_string(p->j, "kind", kind_names[port->kind]);
	jput_string(p->j, "name", port->name);
	jput_string(p->j, "pod", owner_of(p, port->id, owner, sizeof(owner)));
	jput_string(p->j, "lane", lane == RX_LANE_BULK ? "bulk" : "express");
	jput_int(p->j, "worker", port->worker);
	jput_u64(p->j, "rx_packets", sum.rx_packets);
	jput_u64(p->j, "rx_bytes", sum.rx_bytes);
	jput_u64(p->j, "tx_packets", sum.tx_packets);
	jput_u64(p->j, "tx_bytes", sum.tx_bytes);
	jput_u64(p->j, "rx_drops", sum_drops(&sum, false));
	jput_u64(p->j, "tx_drops", sum_drops(&sum, true));
	jput_end(p->j);
}

static void port_rows(struct page *p)
{
	for (uint16_t id = 1; id < port_limit() && !p->more; id++) {
		const struct port *port = port_get(id);

		if (port && page_takes(p, id))
			port_row(p, port);
	}
}

// ---- drop ----

// id: of a live port, 0 = none.
static void drop_rows_of(struct page *p, uint16_t id, uint64_t base, const char *port,
			 const struct counters_sum *sum)
{
	char owner[OWNER_MAX];

	for (int i = 1; i < DROP_COUNT; i++) {
		if (sum->drops[i] == 0 || !page_takes(p, base + (uint64_t)i))
			continue;
		jput_object(p->j, NULL);
		jput_string(p->j, "reason", drop_table[i].name);
		jput_string(p->j, "port", port);
		jput_string(p->j, "pod", owner_of(p, id, owner, sizeof(owner)));
		jput_string(p->j, "direction", drop_table[i].is_tx ? "tx" : "rx");
		jput_u64(p->j, "packets", sum->drops[i]);
		jput_string(p->j, "help", drop_table[i].help);
		jput_end(p->j);
	}
}

// Row 0 counts what came from no known port; what ports that are gone counted stands behind all
// others.
static void drop_rows(struct page *p)
{
	struct counters_sum sum;

	for (uint16_t id = 0; id < PORT_MAX && !p->more; id++) {
		const struct port *port = id ? port_get(id) : NULL;

		if (id && !port)
			continue;
		counters_sum_port(id, &sum);
		drop_rows_of(p, id, (uint64_t)id * DROP_COUNT, port ? port->name : "unknown", &sum);
	}
	counters_sum_gone(&sum);
	drop_rows_of(p, 0, (uint64_t)PORT_MAX * DROP_COUNT, "gone", &sum);
}

// ---- flow, node, worker, status ----

struct walk {
	struct page *page;
	uint64_t index;
};

static int flow_row(const struct flow *f, void *arg)
{
	char match[FLOW_TEXT_MAX], action[FLOW_TEXT_MAX];
	struct walk *w = arg;
	struct jput *j = w->page->j;

	if (!page_takes(w->page, ++w->index))
		return w->page->more;
	jput_object(j, NULL);
	jput_string(j, "table", flow_table_name(f->table));
	jput_int(j, "priority", f->rule.priority);
	jput_string(j, "match", flow_text_match(&f->rule, match));
	jput_string(j, "action", flow_text_action(&f->decision, action));
	jput_string(j, "cookie", f->cookie);
	jput_u64(j, "packets", flow_packets(f));
	jput_end(j);
	return 0;
}

static void flow_rows(struct page *p)
{
	struct walk w = {.page = p};

	(void)flow_foreach(flow_row, &w);
}

static int node_row(const struct node *n, void *arg)
{
	struct walk *w = arg;

	if (page_takes(w->page, ++w->index))
		node_api_row(w->page->j, n, w->page->d->net.mtu);
	return w->page->more;
}

static void node_rows(struct page *p)
{
	struct walk w = {.page = p};

	(void)node_table_foreach(p->d->nodes, node_row, &w);
}

static void worker_rows(struct page *p)
{
	for (unsigned w = 0; w < p->d->options.workers; w++)
		if (page_takes(p, w + 1))
			worker_row(p->j, w);
}

static void status_rows(struct page *p)
{
	if (page_takes(p, 1))
		status_row(p->d, p->j);
}

struct object {
	const char *name;
	void (*rows)(struct page *p);
};

static const struct object objects[] = {
	{"status", status_rows}, {"pod", pod_rows},   {"port", port_rows},     {"drop", drop_rows},
	{"flow", flow_rows},     {"node", node_rows}, {"worker", worker_rows},
};

int rows_get(struct daemon *d, const char *object, uint64_t after, struct jput *reply,
	     struct err *err)
{
	struct page p = {.d = d, .j = reply, .after = after};

	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		if (strcmp(objects[i].name, object) != 0)
			continue;
		// What the kernel dropped since the last round belongs into the sums.
		rx_group_service(d->rx, clock_now_ns());
		jput_array(reply, "items");
		objects[i].rows(&p);
		jput_end(reply);
		if (p.more)
			jput_u64(reply, "next", p.last);
		return 0;
	}
	return err_set(err, 0, "$.object: there is no `%.32s`", object);
}
