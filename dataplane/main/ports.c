// SPDX-License-Identifier: Apache-2.0
#include "main/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/counters.h"
#include "core/rcu.h"
#include "features/endpoint/endpoint.h"
#include "flow/flow.h"
#include "io/veth_port.h"

LOG_MODULE("ports");

struct slot {
	bool open, closing; // closing: waits for the workers
	char cookie[FLOW_COOKIE_MAX];
};

struct ports {
	struct ports_conf conf;
	unsigned count;
	unsigned load[PORT_WORKERS_MAX]; // open ports of each worker
	struct slot slots[PORT_MAX];
};

// What a deferred close needs.
struct closing {
	struct ports *ports;
	struct port *port;
	bool keep_counters; // the id lives on
};

struct ports *ports_new(const struct ports_conf *conf)
{
	struct ports *p = calloc(1, sizeof(*p));

	if (p)
		p->conf = *conf;
	return p;
}

static uint16_t least_loaded(const struct ports *p)
{
	uint16_t best = 0;

	for (uint16_t w = 1; w < p->conf.workers; w++)
		if (p->load[w] < p->load[best])
			best = w;
	return best;
}

// Makes a port visible to the workers. When that fails none of them can hold it on return.
static int publish(struct ports *p, struct port *port, struct err *err)
{
	int r = port_publish(port);

	if (r < 0)
		return err_set(err, -r, "port %u", port->id);
	r = rx_port_add(p->conf.rx, port->ifindex, port->id, port->worker);
	if (r == 0)
		return 0;
	(void)port_unpublish(port->id);
	rcu_synchronize();
	return err_set(err, -r, "receive on index %u", port->ifindex);
}

static int add_flows(const struct port *port, const char *cookie, struct err *err)
{
	int r = port->kind == PORT_KIND_POD ? endpoint_add(port, cookie) : 0;

	return r < 0 ? err_set(err, -r, "flows of port %u", port->id) : 0;
}

static void del_flows(const struct port *port)
{
	if (port->kind == PORT_KIND_POD)
		endpoint_del(port);
}

static int bring_up(struct ports *p, struct port *port, const char *cookie, struct err *err)
{
	int r = veth_port_open(port, p->conf.netns_fd, p->conf.workers, err);

	if (r < 0)
		return err_wrap(err, r, "port %u on `%s`", port->id, port->name);
	r = add_flows(port, cookie, err);
	if (r == 0) {
		r = publish(p, port, err);
		if (r < 0)
			del_flows(port);
	}
	if (r < 0)
		port->ops->close(port);
	return r;
}

int ports_open(struct ports *p, struct port *port, const char *cookie, struct err *err)
{
	struct slot *s = &p->slots[port->id];
	int r;

	port->worker = least_loaded(p);
	r = bring_up(p, port, cookie, err);
	if (r < 0)
		return r;
	s->open = true;
	snprintf(s->cookie, sizeof(s->cookie), "%s", cookie);
	p->load[port->worker]++;
	p->count++;
	return 0;
}

static void finish_close(const struct closing *c)
{
	uint16_t id = c->port->id;

	port_free(c->port);
	if (c->keep_counters)
		return;
	counters_retire(id);
	c->ports->slots[id].closing = false;
}

static void finish_deferred(void *arg)
{
	finish_close(arg);
	free(arg);
}

// Frees a port that is unpublished, when no worker can hold it any more.
static void defer_close(struct ports *p, struct port *port, bool keep_counters)
{
	struct closing *c = malloc(sizeof(*c));
	struct closing now = {.ports = p, .port = port, .keep_counters = keep_counters};

	if (c) {
		*c = now;
		rcu_defer(finish_deferred, c);
		return;
	}
	rcu_synchronize();
	finish_close(&now);
}

void ports_close(struct ports *p, uint16_t id)
{
	struct slot *s = &p->slots[id];
	struct port *port = port_get(id);

	if (!s->open || !port)
		return;
	del_flows(port);
	flow_commit();
	rx_port_del(p->conf.rx, port->ifindex);
	(void)port_unpublish(id);
	p->load[port->worker]--;
	p->count--;
	s->open = false;
	s->closing = true;
	defer_close(p, port, false);
}

// A copy of a port as it was before it was opened.
static struct port *copy_port(const struct port *old, const struct macaddr *mac, uint32_t mtu)
{
	struct port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->id = old->id;
	port->kind = old->kind;
	port->ifindex = old->ifindex;
	port->worker = old->worker;
	memcpy(port->name, old->name, sizeof(port->name));
	port->mac = *mac;
	port->mtu = mtu;
	port->addr_count = old->addr_count;
	memcpy(port->addrs, old->addrs, sizeof(port->addrs));
	atomic_store(&port->active, atomic_load(&old->active));
	return port;
}

int ports_change(struct ports *p, uint16_t id, const struct macaddr *mac, uint32_t mtu,
		 struct err *err)
{
	struct port *old = port_get(id), *port;
	int r;

	if (!old || !p->slots[id].open)
		return err_set(err, ENOENT, "port %u", id);
	port = copy_port(old, mac, mtu);
	if (!port)
		return err_set(err, ENOMEM, "port %u", id);
	rx_port_del(p->conf.rx, old->ifindex);
	(void)port_unpublish(id);
	r = bring_up(p, port, p->slots[id].cookie, err);
	if (r < 0) {
		// What was there works, if not as it should.
		(void)port_publish(old);
		(void)rx_port_add(p->conf.rx, old->ifindex, id, old->worker);
		free(port);
		return r;
	}
	flow_commit();
	defer_close(p, old, true);
	return 0;
}

bool ports_is_free(const struct ports *p, uint16_t id)
{
	return !p->slots[id].open && !p->slots[id].closing;
}

unsigned ports_count(const struct ports *p)
{
	return p->count;
}

void ports_free(struct ports *p)
{
	if (!p)
		return;
	for (uint16_t id = 0; id < PORT_MAX; id++)
		ports_close(p, id);
	rcu_synchronize();
	rcu_reap();
	free(p);
}
