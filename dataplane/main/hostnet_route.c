// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "main/hostnet_internal.h"

#define STALE_MAX 256
#define FAMILY_V4 2    // AF_INET
#define FAMILY_V6 10   // AF_INET6
#define SCOPE_GLOBAL 0 // RT_SCOPE_UNIVERSE

LOG_MODULE("hostnet");

// ---- routes ----

static bool is_wanted(const struct hostnet_routes *want, const struct ipprefix *dst)
{
	for (size_t i = 0; i < want->range_count; i++)
		if (want->ranges[i].len == dst->len &&
		    ipaddr_is_equal(&want->ranges[i].addr, &dst->addr))
			return true;
	return false;
}

struct stale {
	const struct hostnet *h;
	const struct hostnet_routes *want;
	size_t count;
	struct link_route routes[STALE_MAX];
};

static int find_stale(const struct link_route *r, void *arg)
{
	struct stale *s = arg;

	if (r->protocol == HOSTNET_PROTOCOL && r->ifindex == s->h->host_index &&
	    !is_wanted(s->want, &r->dst) && s->count < STALE_MAX)
		s->routes[s->count++] = *r;
	return 0;
}

static void delete_stale(struct hostnet *h, const struct hostnet_routes *want, int family)
{
	struct stale s = {.h = h, .want = want};
	struct err err = ERR_INIT;
	char text[IPPREFIX_TEXT_MAX];

	if (link_route_foreach(h->host, family, find_stale, &s, &err) < 0)
		LOG_WARN("routes cannot be listed", "why=%s", err.text);
	for (size_t i = 0; i < s.count; i++) {
		if (link_route_del(h->host, &s.routes[i], &err) < 0)
			LOG_WARN("route is not removed", "dst=%s why=%s",
				 ipprefix_format(&s.routes[i].dst, text), err.text);
	}
}

static const struct ipaddr *source_of(const struct hostnet_routes *want, bool v4)
{
	for (size_t i = 0; i < want->ip_count; i++)
		if (ipaddr_is_v4(&want->ips[i]) == v4)
			return &want->ips[i];
	return NULL;
}

static int set_route(struct hostnet *h, const struct ipprefix *dst,
		     const struct hostnet_routes *want, struct err *err)
{
	bool v4 = ipaddr_is_v4(&dst->addr);
	const struct ipaddr *source = source_of(want, v4);
	struct link_route r = {
		.dst = *dst,
		.has_gateway = true,
		.gateway = h->gateways[v4 ? 0 : 1],
		.onlink = true,
		.has_source = source != NULL,
		.ifindex = h->host_index,
		.protocol = HOSTNET_PROTOCOL,
		.scope = SCOPE_GLOBAL,
	};
	char text[IPPREFIX_TEXT_MAX];
	int res;

	if (!v4 && !h->has_ipv6)
		return 0;
	if (source)
		r.source = *source;
	res = link_route_set(h->host, &r, err);
	return res < 0 ? err_wrap(err, res, "host route to %s", ipprefix_format(dst, text)) : 0;
}

int hostnet_set_routes(struct hostnet *h, const struct hostnet_routes *routes, struct err *err)
{
	int res = 0;

	delete_stale(h, routes, FAMILY_V4);
	delete_stale(h, routes, FAMILY_V6);
	for (size_t i = 0; i < routes->range_count; i++) {
		int r = set_route(h, &routes->ranges[i], routes, err);

		if (r < 0)
			res = r;
	}
	return res;
}

// ---- addresses of the node ----

struct search {
	const struct ipaddr *ip; // looked for; NULL: collect
	uint32_t ifindex;        // found; or wanted while collecting (0 = any)
	uint32_t skip;           // the host interface
	bool has[2];
	struct ipaddr found[2]; // IPv4, IPv6
};

static int find_holder(const struct link_addr *a, void *arg)
{
	struct search *s = arg;

	if (ipaddr_is_equal(&a->addr.addr, s->ip))
		s->ifindex = a->ifindex;
	return s->ifindex != 0;
}

uint32_t hostnet_mtu_of(struct hostnet *h, const struct ipaddr *ip)
{
	struct search s = {.ip = ip};
	struct link_info info;

	(void)link_addr_foreach(h->host, find_holder, &s, NULL);
	if (s.ifindex == 0 || link_get_by_index(h->host, s.ifindex, &info, NULL) != 0)
		return 0;
	return info.mtu;
}

static int collect(const struct link_addr *a, void *arg)
{
	struct search *s = arg;
	unsigned family = ipaddr_is_v4(&a->addr.addr) ? 0 : 1;

	if (a->scope != SCOPE_GLOBAL || a->ifindex == s->skip || s->has[family] ||
	    (s->ifindex && a->ifindex != s->ifindex))
		return 0;
	s->has[family] = true;
	s->found[family] = a->addr.addr;
	return 0;
}

static int find_default(const struct link_route *r, void *arg)
{
	struct search *s = arg;

	if (r->dst.len == 0 && s->ifindex == 0 && r->has_gateway)
		s->ifindex = r->ifindex;
	return 0;
}

size_t hostnet_detect(struct hostnet *h, struct ipaddr ret[2])
{
	struct search s = {.skip = h->host_index};
	size_t n = 0;

	(void)link_route_foreach(h->host, FAMILY_V4, find_default, &s, NULL);
	(void)link_addr_foreach(h->host, collect, &s, NULL);
	s.ifindex = 0;
	(void)link_addr_foreach(h->host, collect, &s, NULL);
	for (int i = 0; i < 2; i++)
		if (s.has[i])
			ret[n++] = s.found[i];
	return n;
}
