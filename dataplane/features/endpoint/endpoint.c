// SPDX-License-Identifier: Apache-2.0
#include "features/endpoint/endpoint.h"

#include "flow/flow.h"

static struct ipprefix host_prefix(const struct ipaddr *a)
{
	return (struct ipprefix){.addr = *a, .len = ipaddr_is_v4(a) ? 32 : 128};
}

static int set(const struct ipaddr *addr, const struct resolved *decision, const char *cookie)
{
	struct ipprefix p = host_prefix(addr);
	return flow_set_dst(FLOW_TABLE_ENDPOINT, &p, flow_prefix_priority(&p), decision, cookie);
}

static void del(const struct ipaddr *addr)
{
	struct ipprefix p = host_prefix(addr);
	(void)flow_del_dst(FLOW_TABLE_ENDPOINT, &p, flow_prefix_priority(&p));
}

static struct resolved forward_to(const struct port *port)
{
	return (struct resolved){
		.verdict = RESOLVED_FORWARD,
		.dec_ttl = true,
		.out_port = port->id,
		.mtu = port->mtu,
		.dst_mac = port->mac,
		.src_mac = gateway_mac,
	};
}

int endpoint_add(const struct port *port, const char *cookie)
{
	struct resolved decision = forward_to(port);
	for (unsigned i = 0; i < port->addr_count; i++) {
		int r = set(&port->addrs[i], &decision, cookie);
		if (r < 0) {
			while (i-- > 0)
				del(&port->addrs[i]);
			return r;
		}
	}
	return 0;
}

void endpoint_del(const struct port *port)
{
	for (unsigned i = 0; i < port->addr_count; i++)
		del(&port->addrs[i]);
}

int endpoint_add_host(const struct ipaddr *addr, const struct port *host, const char *cookie)
{
	struct resolved decision = forward_to(host);
	return set(addr, &decision, cookie);
}

void endpoint_del_host(const struct ipaddr *addr)
{
	del(addr);
}

int endpoint_add_gateway(const struct ipaddr *addr)
{
	struct resolved decision = {.verdict = RESOLVED_LOCAL};
	return set(addr, &decision, "gateway");
}

void endpoint_del_gateway(const struct ipaddr *addr)
{
	del(addr);
}
