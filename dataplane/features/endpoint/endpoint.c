// SPDX-License-Identifier: Apache-2.0
#include "features/endpoint/endpoint.h"

#include "flow/flow.h"

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
		int r = flow_set_addr(&port->addrs[i], &decision, cookie);
		if (r < 0) {
			while (i-- > 0)
				flow_del_addr(&port->addrs[i]);
			return r;
		}
	}
	return 0;
}

void endpoint_del(const struct port *port)
{
	for (unsigned i = 0; i < port->addr_count; i++)
		flow_del_addr(&port->addrs[i]);
}

int endpoint_add_host(const struct ipaddr *addr, const struct port *host, const char *cookie)
{
	struct resolved decision = forward_to(host);
	return flow_set_addr(addr, &decision, cookie);
}

void endpoint_del_host(const struct ipaddr *addr)
{
	flow_del_addr(addr);
}
