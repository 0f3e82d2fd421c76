// SPDX-License-Identifier: Apache-2.0
#include "main/netconf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "features/attach/ipam.h"
#include "features/endpoint/endpoint.h"
#include "features/gateway/gateway.h"
#include "features/route/route.h"
#include "flow/flow.h"

LOG_MODULE("netconf");

// ---- what should be ----

static void want_ranges(struct daemon *d, struct daemon_net *want)
{
	const struct node *self = node_table_self(d->nodes);
	const struct options_prefixes *given = &d->options.pod_cidrs;
	struct ipam *ipam = attach_ipam(d->attach);

	if (given->count > 0) {
		want->range_count = given->count;
		memcpy(want->ranges, given->list, given->count * sizeof(want->ranges[0]));
	} else if (self) {
		want->range_count = self->cidr_count;
		memcpy(want->ranges, self->cidrs, self->cidr_count * sizeof(want->ranges[0]));
	} else if (!d->options.standalone) {
		want->range_count = ipam_range_count(ipam);
		for (size_t i = 0; i < want->range_count; i++) {
			struct ipam_usage u;

			ipam_usage(ipam, i, &u);
			want->ranges[i] = u.prefix;
		}
	}
}

static void want_ips(struct daemon *d, struct daemon_net *want)
{
	const struct node *self = node_table_self(d->nodes);
	const struct options_prefixes *given = &d->options.node_ips;

	if (given->count > 0) {
		want->ip_count = given->count;
		for (size_t i = 0; i < given->count; i++)
			want->ips[i] = given->list[i].addr;
	} else if (self && self->ip_count > 0) {
		want->ip_count = self->ip_count;
		memcpy(want->ips, self->ips, self->ip_count * sizeof(want->ips[0]));
	} else if (d->net.ip_count > 0) {
		// An empty list is a node that is just being described: the last one holds.
		want->ip_count = d->net.ip_count;
		memcpy(want->ips, d->net.ips, sizeof(want->ips));
	} else {
		want->ip_count = hostnet_detect(d->hostnet, want->ips);
	}
}

static void want_mtu(struct daemon *d, struct daemon_net *want)
{
	uint32_t mtu = 0, overhead = NETCONF_OVERHEAD_V4;

	want->mtu = d->options.mtu ? d->options.mtu : NETCONF_MTU_DEFAULT;
	if (d->options.mtu || want->ip_count == 0)
		return;
	mtu = hostnet_mtu_of(d->hostnet, &want->ips[0]);
	if (!ipaddr_is_v4(&want->ips[0]))
		overhead = NETCONF_OVERHEAD_V6;
	// A loopback or a tiny link says nothing about the way to other nodes.
	if (mtu >= 1280 + overhead && mtu <= 9216)
		want->mtu = mtu - overhead;
}

// ---- steps ----

static void failed(struct daemon *d, const struct err *err)
{
	LOG_ERR("network settings are not all in force", "why=%s", err->text);
	snprintf(d->net.problem, sizeof(d->net.problem), "%s", err->text);
}

static bool has_range(const struct daemon_net *net, const struct ipprefix *p)
{
	for (size_t i = 0; i < net->range_count; i++)
		if (net->ranges[i].len == p->len && ipaddr_is_equal(&net->ranges[i].addr, &p->addr))
			return true;
	return false;
}

static bool has_ip(const struct daemon_net *net, const struct ipaddr *ip)
{
	for (size_t i = 0; i < net->ip_count; i++)
		if (ipaddr_is_equal(&net->ips[i], ip))
			return true;
	return false;
}

static int change_range_flows(struct daemon *d, const struct daemon_net *want, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < d->net.range_count; i++)
		if (!has_range(want, &d->net.ranges[i]))
			route_del_local_range(&d->net.ranges[i]);
	for (size_t i = 0; i < want->range_count && r == 0; i++)
		if (!has_range(&d->net, &want->ranges[i]))
			r = route_add_local_range(&want->ranges[i], "node/self");
	return r < 0 ? err_set(err, -r, "flows of the pod ranges") : 0;
}

static int change_gateways(struct daemon *d, struct err *err)
{
	struct ipaddr addrs[IPAM_RANGES_MAX];
	struct ipam *ipam = attach_ipam(d->attach);
	unsigned n = 0;
	int r;

	for (size_t i = 0; i < ipam_range_count(ipam); i++)
		n += ipam_gateway(ipam, i, &addrs[n]);
	r = gateway_set_addrs(addrs, n);
	return r < 0 ? err_set(err, -r, "gateway addresses") : 0;
}

static int change_host_flows(struct daemon *d, const struct daemon_net *want, struct err *err)
{
	const struct port *host = port_get(DAEMON_HOST_PORT);
	int r = 0;

	for (size_t i = 0; i < d->net.ip_count; i++)
		if (!has_ip(want, &d->net.ips[i]))
			endpoint_del_host(&d->net.ips[i]);
	for (size_t i = 0; host && i < want->ip_count && r == 0; i++)
		r = endpoint_add_host(&want->ips[i], host, "node/self");
	return r < 0 ? err_set(err, -r, "flows of the node's addresses") : 0;
}

static int change_routes(struct daemon *d, const struct daemon_net *want, struct err *err)
{
	struct hostnet_routes routes = {.range_count = want->range_count,
					.ip_count = want->ip_count};

	memcpy(routes.ranges, want->ranges, want->range_count * sizeof(routes.ranges[0]));
	memcpy(routes.ips, want->ips, want->ip_count * sizeof(routes.ips[0]));
	return hostnet_set_routes(d->hostnet, &routes, err);
}

static int change_mtu(struct daemon *d, const struct daemon_net *want, struct err *err)
{
	int r = hostnet_set_mtu(d->hostnet, want->mtu, err);

	if (r < 0)
		return r;
	attach_set_mtu(d->attach, want->mtu);
	return ports_change(d->ports, DAEMON_HOST_PORT, hostnet_mac(d->hostnet), want->mtu, err);
}

static bool is_same_list(const void *a, size_t count_a, const void *b, size_t count_b, size_t size)
{
	return count_a == count_b && memcmp(a, b, count_a * size) == 0;
}

typedef int step_fn(struct daemon *d, const struct daemon_net *want, struct err *err);

static void step(struct daemon *d, const struct daemon_net *want, step_fn *fn)
{
	struct err err = ERR_INIT;

	if (fn(d, want, &err) < 0)
		failed(d, &err);
}

static int set_ranges(struct daemon *d, const struct daemon_net *want, struct err *err)
{
	int r = attach_set_ranges(d->attach, want->ranges, want->range_count, err);

	if (r == 0)
		r = change_range_flows(d, want, err);
	return r == 0 ? change_gateways(d, err) : r;
}

static void log_change(const struct daemon_net *want)
{
	char range[IPPREFIX_TEXT_MAX] = "none", ip[IPADDR_TEXT_MAX] = "none";

	if (want->range_count > 0)
		ipprefix_format(&want->ranges[0], range);
	if (want->ip_count > 0)
		ipaddr_format(&want->ips[0], ip);
	LOG_INFO("network settings", "ranges=%zu first=%s ips=%zu node_ip=%s mtu=%u",
		 want->range_count, range, want->ip_count, ip, want->mtu);
}

void netconf_update(struct daemon *d)
{
	struct daemon_net want = {0};
	bool ranges, ips, mtu;

	want_ranges(d, &want);
	want_ips(d, &want);
	want_mtu(d, &want);
	ranges = !is_same_list(want.ranges, want.range_count, d->net.ranges, d->net.range_count,
			       sizeof(want.ranges[0])) ||
		 ipam_range_count(attach_ipam(d->attach)) != want.range_count;
	ips = !is_same_list(want.ips, want.ip_count, d->net.ips, d->net.ip_count,
			    sizeof(want.ips[0]));
	mtu = want.mtu != d->net.mtu;
	if (!ranges && !ips && !mtu && !d->net.stale && d->net.problem[0] == '\0')
		return;
	d->net.problem[0] = '\0';
	if (mtu)
		step(d, &want, change_mtu);
	if (ranges)
		step(d, &want, set_ranges);
	step(d, &want, change_host_flows);
	flow_commit();
	step(d, &want, change_routes);
	memcpy(want.problem, d->net.problem, sizeof(want.problem));
	d->net = want;
	log_change(&want);
}

int netconf_open_host_port(struct daemon *d, struct err *err)
{
	struct port *port = calloc(1, sizeof(*port));
	int r;

	if (!port)
		return err_set(err, ENOMEM, "host port");
	port->id = DAEMON_HOST_PORT;
	port->kind = PORT_KIND_HOST;
	port->ifindex = hostnet_peer_index(d->hostnet);
	snprintf(port->name, sizeof(port->name), "%s", d->options.host_if);
	port->mac = *hostnet_mac(d->hostnet);
	port->mtu = d->net.mtu;
	atomic_store(&port->active, true);
	r = ports_open(d->ports, port, "node/self", err);
	if (r < 0)
		free(port);
	return r;
}
