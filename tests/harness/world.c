// SPDX-License-Identifier: Apache-2.0
#include "harness/world.h"

#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#include "core/rcu.h"
#include "features/endpoint/endpoint.h"
#include "features/gateway/gateway.h"
#include "features/route/route.h"
#include "flow/flow.h"
#include "harness/eal.h"
#include "harness/frames.h"

const struct macaddr world_mac_a = {{2, 0, 0, 0, 1, 0x0a}};
const struct macaddr world_mac_b = {{2, 0, 0, 0, 1, 0x0b}};
const struct macaddr world_mac_host = {{2, 0, 0, 0, 0, 0x0f}};

static int add_port(struct world *w, uint16_t id, const struct macaddr *mac, const char *v4,
		    const char *v6)
{
	struct port *p = calloc(1, sizeof(*p));
	p->id = id;
	p->kind = id == WORLD_HOST ? PORT_KIND_HOST : PORT_KIND_POD;
	p->mac = *mac;
	p->mtu = 1450;
	atomic_store(&p->active, true);
	if (ipaddr_parse(v4, &p->addrs[0]) < 0 || ipaddr_parse(v6, &p->addrs[1]) < 0)
		return -1;
	p->addr_count = p->kind == PORT_KIND_POD ? 2 : 0;
	if (mem_port_open(p) < 0 || port_publish(p) < 0)
		return -1;
	w->port[id] = p;
	if (p->kind == PORT_KIND_POD)
		return endpoint_add(p, id == WORLD_POD_A ? "pod/t/a" : "pod/t/b");
	return endpoint_add_host(&p->addrs[0], p, "node/n1") |
	       endpoint_add_host(&p->addrs[1], p, "node/n1");
}

static int add_tables(void)
{
	struct ipaddr gw[2];
	struct ipprefix range[2];
	if (ipaddr_parse("10.244.1.1", &gw[0]) < 0 || ipaddr_parse("fd00:10:1::1", &gw[1]) < 0 ||
	    ipprefix_parse("10.244.1.0/24", &range[0]) < 0 ||
	    ipprefix_parse("fd00:10:1::/64", &range[1]) < 0)
		return -1;
	if (route_init() < 0 || route_add_local_range(&range[0], "node/n1") < 0 ||
	    route_add_local_range(&range[1], "node/n1") < 0)
		return -1;
	return gateway_set_addrs(gw, 2);
}

int world_start(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->now_ns = 1000000000;
	if (test_eal_start() < 0 || counters_init(1) < 0 || flow_init(42) < 0 || add_tables() < 0)
		return -1;
	if (add_port(w, WORLD_POD_A, &world_mac_a, "10.244.1.10", "fd00:10:1::a") ||
	    add_port(w, WORLD_POD_B, &world_mac_b, "10.244.1.11", "fd00:10:1::b") ||
	    add_port(w, WORLD_HOST, &world_mac_host, "192.0.2.11", "fd00:c0::11"))
		return -1;
	flow_commit();
	w->pool =
		rte_pktmbuf_pool_create("t", 128, 0, 0, RTE_PKTMBUF_HEADROOM + 1536, SOCKET_ID_ANY);
	w->c = counters_worker(0);
	struct pipeline_conf conf = {.worker = 0, .emc_entries = 1024, .pool = w->pool};
	w->pl = w->pool ? pipeline_new(&conf) : NULL;
	return w->pl ? 0 : -1;
}

void world_stop(struct world *w)
{
	pipeline_free(w->pl);
	for (uint16_t id = 1; id < 4; id++)
		port_free(port_unpublish(id));
	flow_fini();
	counters_fini();
	rte_mempool_free(w->pool);
}

void world_send(struct world *w, uint16_t port, const uint8_t *frame, uint32_t len,
		const struct vnet_hdr *vnet)
{
	// Exactly as long as the frame, so that a read past its end is a sanitizer report.
	uint8_t *mem = malloc(PKT_HEADROOM + len);
	struct pkt p = {.data = mem + PKT_HEADROOM, .len = len, .in_port = port};
	memcpy(p.data, frame, len);
	if (vnet)
		p.vnet = *vnet;
	pipeline_run(w->pl, &p, 1, w->now_ns);
	pipeline_flush(w->pl);
	free(mem);
}

struct mem_frame *world_take(struct world *w, uint16_t port)
{
	return mem_port_take(w->port[port]);
}

uint64_t world_drops(const struct world *w, uint16_t port, enum drop_reason reason)
{
	return atomic_load(&w->c->port[port].drops[reason]);
}

uint64_t world_drops_all(const struct world *w)
{
	uint64_t sum = 0;
	for (unsigned port = 0; port < 4; port++)
		for (unsigned r = 0; r < DROP_COUNT; r++)
			sum += atomic_load(&w->c->port[port].drops[r]);
	return sum;
}
