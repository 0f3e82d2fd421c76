// SPDX-License-Identifier: Apache-2.0
// Unicast routes.
#include "netlink/link.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "netlink/link_msg.h"
#include "netlink/rtnl_msg.h"

// ---- decoding ----

// A gateway of the other family (RTA_VIA): struct rtvia.
static bool decode_via(const struct nlattr *via, struct ipaddr *ret_addr)
{
	uint16_t family;
	const size_t head = sizeof(family);
	const char *data = via ? nla_data(via) : NULL;

	if (!via || nla_len(via) != (int)(head + sizeof(ret_addr->b)))
		return false;
	memcpy(&family, data, head);
	if (family != AF_INET6)
		return false;
	*ret_addr = ipaddr_from_v6(data + head);
	return true;
}

// Of a multipath route the first next hop stands for all.
static void decode_hop(struct nlattr *const *tb, int family, struct link_route *route)
{
	route->has_gateway = rtnl_attr_addr(tb[RTA_GATEWAY], family, &route->gateway) ||
			     decode_via(tb[RTA_VIA], &route->gateway);
}

static int decode_multipath(const struct nlattr *paths, int family, struct link_route *route)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct rtnexthop hop;
	size_t size = (size_t)nla_len(paths);

	if (size < sizeof(hop))
		return -EBADMSG;
	memcpy(&hop, nla_data(paths), sizeof(hop));
	if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > size)
		return -EBADMSG;
	struct nlattr *attrs = (void *)((char *)nla_data(paths) + sizeof(hop));
	if (nla_parse(tb, RTA_MAX, attrs, hop.rtnh_len - (int)sizeof(hop), NULL) < 0)
		return -EBADMSG;
	route->ifindex = (uint32_t)hop.rtnh_ifindex;
	route->onlink = hop.rtnh_flags & RTNH_F_ONLINK;
	decode_hop(tb, family, route);
	return 0;
}

static uint32_t decode_mtu(const struct nlattr *metrics)
{
	if (!metrics)
		return 0;
	return rtnl_attr_u32(nla_find(nla_data(metrics), nla_len(metrics), RTAX_MTU), 0);
}

static int decode_dst(const struct nlattr *dst, const struct rtmsg *rt, struct ipprefix *ret_dst)
{
	static const struct ipaddr any6;

	if (rt->rtm_dst_len > (rt->rtm_family == AF_INET ? 32 : 128))
		return -EBADMSG;
	ret_dst->len = rt->rtm_dst_len;
	ret_dst->addr = rt->rtm_family == AF_INET ? ipaddr_from_v4(0) : any6;
	if (dst && !rtnl_attr_addr(dst, rt->rtm_family, &ret_dst->addr))
		return -EBADMSG;
	return 0;
}

static bool is_plain(const struct rtmsg *rt)
{
	if (rt->rtm_family != AF_INET && rt->rtm_family != AF_INET6)
		return false;
	return rt->rtm_type == RTN_UNICAST && !(rt->rtm_flags & RTM_F_CLONED);
}

int link_route_decode(const struct nlmsghdr *h, struct link_route *ret_route)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct link_route route = {0};
	struct rtmsg rt;

	if (rtnl_attrs(h, sizeof(rt), tb, RTA_MAX) < 0)
		return -EBADMSG;
	memcpy(&rt, NLMSG_DATA(h), sizeof(rt));
	if (!is_plain(&rt))
		return LINK_MSG_SKIP;
	route.onlink = rt.rtm_flags & RTNH_F_ONLINK;
	route.ifindex = rtnl_attr_u32(tb[RTA_OIF], 0);
	route.protocol = rt.rtm_protocol;
	route.scope = rt.rtm_scope;
	route.table = rtnl_attr_u32(tb[RTA_TABLE], rt.rtm_table);
	route.metric = rtnl_attr_u32(tb[RTA_PRIORITY], 0);
	route.mtu = decode_mtu(tb[RTA_METRICS]);
	route.has_source = rtnl_attr_addr(tb[RTA_PREFSRC], rt.rtm_family, &route.source);
	decode_hop(tb, rt.rtm_family, &route);
	int r = decode_dst(tb[RTA_DST], &rt, &route.dst);
	if (r == 0 && tb[RTA_MULTIPATH])
		r = decode_multipath(tb[RTA_MULTIPATH], rt.rtm_family, &route);
	if (r == 0)
		*ret_route = route;
	return r;
}

// ---- requests ----

static int check_route(const struct link_route *r, struct err *err)
{
	char text[IPPREFIX_TEXT_MAX];
	bool v4 = ipaddr_is_v4(&r->dst.addr);

	if (r->dst.len > (v4 ? 32 : 128) || (r->has_gateway && ipaddr_is_v4(&r->gateway) != v4) ||
	    (r->has_source && ipaddr_is_v4(&r->source) != v4))
		return err_set(err, 0, "route `%s`: prefix length or family does not fit",
			       ipprefix_format(&r->dst, text));
	return 0;
}

static struct rtmsg head_of(const struct link_route *r)
{
	return (struct rtmsg){
		.rtm_family = (uint8_t)rtnl_family(&r->dst.addr),
		.rtm_dst_len = r->dst.len,
		.rtm_table = RT_TABLE_UNSPEC, // RTA_TABLE says it in 32 bits
		.rtm_protocol = r->protocol,
		.rtm_scope = r->scope,
		.rtm_type = RTN_UNICAST,
		.rtm_flags = r->onlink ? RTNH_F_ONLINK : 0,
	};
}

static void put_mtu(struct rtnl_req *req, uint32_t mtu)
{
	struct nlattr *metrics = rtnl_nest(req, RTA_METRICS);

	rtnl_put_u32(req, RTAX_MTU, mtu);
	rtnl_nest_end(req, metrics);
}

static void put_route(struct rtnl_req *req, const struct link_route *r)
{
	// The kernel refuses host bits.
	struct ipaddr dst = ipprefix_mask(&r->dst);

	rtnl_put_u32(req, RTA_TABLE, r->table > 0 ? r->table : RT_TABLE_MAIN);
	if (r->dst.len > 0)
		rtnl_put_addr(req, RTA_DST, &dst);
	if (r->has_gateway)
		rtnl_put_addr(req, RTA_GATEWAY, &r->gateway);
	if (r->has_source)
		rtnl_put_addr(req, RTA_PREFSRC, &r->source);
	if (r->ifindex > 0)
		rtnl_put_u32(req, RTA_OIF, r->ifindex);
	if (r->metric > 0)
		rtnl_put_u32(req, RTA_PRIORITY, r->metric);
	if (r->mtu > 0)
		put_mtu(req, r->mtu);
}

static int call_route(struct rtnl *rtnl, const struct link_route *route, int type, int flags,
		      const struct rtmsg *rt)
{
	_cleanup_(rtnl_req_fini) struct rtnl_req req;

	rtnl_req_init(&req, type, flags, rt, sizeof(*rt));
	put_route(&req, route);
	return rtnl_call(rtnl, &req, NULL, NULL);
}

int link_route_set(struct rtnl *rtnl, const struct link_route *route, struct err *err)
{
	struct rtmsg rt = head_of(route);
	char text[IPPREFIX_TEXT_MAX];

	if (check_route(route, err) < 0)
		return -EINVAL;
	if (rt.rtm_protocol == RTPROT_UNSPEC)
		rt.rtm_protocol = RTPROT_STATIC;
	int r = call_route(rtnl, route, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &rt);
	return r < 0 ? rtnl_fail(rtnl, r, err, "set route `%s`", ipprefix_format(&route->dst, text))
		     : 0;
}

int link_route_del(struct rtnl *rtnl, const struct link_route *route, struct err *err)
{
	struct rtmsg rt = head_of(route);
	char text[IPPREFIX_TEXT_MAX];

	if (check_route(route, err) < 0)
		return -EINVAL;
	// Any scope; protocol 0 is any protocol.
	rt.rtm_scope = RT_SCOPE_NOWHERE;
	int r = call_route(rtnl, route, RTM_DELROUTE, 0, &rt);
	return r < 0 ? rtnl_fail(rtnl, r, err, "delete route `%s`",
				 ipprefix_format(&route->dst, text))
		     : 0;
}

struct all_routes {
	int (*fn)(const struct link_route *r, void *arg);
	void *arg;
	int result; // of fn
};

static int pass_route(const struct nlmsghdr *h, void *arg)
{
	struct all_routes *all = arg;
	struct link_route route;
	int r = link_route_decode(h, &route);

	if (r != 0)
		return r < 0 ? r : 0;
	all->result = all->fn(&route, all->arg);
	return all->result;
}

int link_route_foreach(struct rtnl *rtnl, int family,
		       int (*fn)(const struct link_route *r, void *arg), void *arg, struct err *err)
{
	struct rtmsg rt = {.rtm_family = (uint8_t)family};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct all_routes all = {.fn = fn, .arg = arg};

	rtnl_req_init(&req, RTM_GETROUTE, NLM_F_DUMP, &rt, sizeof(rt));
	int r = rtnl_dump(rtnl, &req, pass_route, &all);
	if (r < 0 && all.result == 0)
		return rtnl_fail(rtnl, r, err, "read all routes");
	return r;
}
