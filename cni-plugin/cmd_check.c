// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cmd.h"
#include "daemon.h"
#include "ipam.h"
#include "podlink.h"

#define WEFTD_MS 4000
#define DELEGATE_MS 10000

// What prevResult says about our interface. A plugin after us may have changed it, and then it
// says so: it is compared with reality, not with what we did.
struct believed {
	size_t index; // of our interface in prevResult.interfaces
	bool has_mac;
	struct macaddr mac;
	struct ip_list ips;
	uint32_t mtu; // 0 = not said
};

static int read_interface(const struct jval *itf, struct believed *b, struct err *err)
{
	static const struct jrange mtus = {0, UINT32_MAX};
	const char *mac = "";
	int64_t mtu = 0;
	int r = jget_string(itf, "mac", JOPTIONAL | JNOCASE, &mac, err);

	if (r == 0 && mac[0]) {
		b->has_mac = macaddr_parse(mac, &b->mac) == 0;
		if (!b->has_mac)
			return err_set(err, 0, "%s.mac: `%.64s`", itf->path, mac);
	}
	if (r == 0)
		r = jget_int(itf, "mtu", JOPTIONAL | JNOCASE, mtus, &mtu, err);
	b->mtu = (uint32_t)mtu;
	return r;
}

// Our interface is the one of our name in a sandbox. The path of the sandbox may be spelled in
// another way (/var/run), and the one namespace that matters is that of CNI_NETNS.
static int find_interface(const struct cmd_call *call, struct believed *b, struct err *err)
{
	struct jval arr = {0};
	int r = jget_array(&call->conf.prev_result, "interfaces", JREQUIRED | JNOCASE, &arr, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&arr); i++) {
		struct jval itf = jarray_at(&arr, i);
		const char *name = "", *sandbox = "";

		if (jval_type(&itf) != JTYPE_OBJECT)
			return err_set(err, 0, "%s: expected an object", itf.path);
		r = jget_string(&itf, "name", JOPTIONAL | JNOCASE, &name, err);
		if (r == 0)
			r = jget_string(&itf, "sandbox", JOPTIONAL | JNOCASE, &sandbox, err);
		if (r == 0 && sandbox[0] && strcmp(name, call->args.ifname) == 0) {
			b->index = i;
			return read_interface(&itf, b, err);
		}
	}
	if (r == 0)
		return err_set_code(err, CNI_CODE_MISMATCH, 0,
				    "prevResult has no interface `%s` in a sandbox",
				    call->args.ifname);
	return r;
}

static int read_ips(const struct cmd_call *call, struct believed *b, struct err *err)
{
	static const struct jrange indices = {INT32_MIN, INT32_MAX};
	struct jval arr = {0};
	int r = jget_array(&call->conf.prev_result, "ips", JOPTIONAL | JNOCASE, &arr, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&arr); i++) {
		struct jval ip = jarray_at(&arr, i);
		struct ipprefix p;
		int64_t index = -1;

		if (jval_type(&ip) != JTYPE_OBJECT)
			return err_set(err, 0, "%s: expected an object", ip.path);
		r = jget_int(&ip, "interface", JOPTIONAL | JNOCASE, indices, &index, err);
		if (r == 0)
			r = jget_ipprefix(&ip, "address", JREQUIRED | JNOCASE, &p, err);
		if (r < 0 || index != (int64_t)b->index)
			continue;
		if (b->ips.count == CNI_IPS_MAX)
			return err_set(err, 0, "%s: too many addresses", ip.path);
		b->ips.ip[b->ips.count++] = p.addr;
	}
	return r;
}

static int check_link(struct podlink *link, const struct believed *b, struct link_info *info,
		      struct err *err)
{
	char have[MACADDR_TEXT_MAX], want[MACADDR_TEXT_MAX];
	int r = link_get_by_name(link->rtnl, link->ifname, info, err);

	if (r == LINK_NOT_FOUND)
		return err_set(err, ENODEV, "interface `%s` in the pod", link->ifname);
	if (r < 0)
		return r;
	link->ifindex = info->ifindex;
	if (b->has_mac && memcmp(&info->mac, &b->mac, sizeof(b->mac)) != 0)
		return err_set(err, 0, "interface `%s` has MAC %s, prevResult says %s",
			       link->ifname, macaddr_format(&info->mac, have),
			       macaddr_format(&b->mac, want));
	if (b->mtu && info->mtu != b->mtu)
		return err_set(err, 0, "interface `%s` has MTU %u, prevResult says %u",
			       link->ifname, info->mtu, b->mtu);
	if (!(info->flags & IFF_UP))
		return err_set(err, ENETDOWN, "interface `%s`", link->ifname);
	return 0;
}

struct addr_search {
	uint32_t ifindex;
	const struct ipaddr *addr;
};

static int match_addr(const struct link_addr *a, void *arg)
{
	const struct addr_search *s = arg;

	return a->ifindex == s->ifindex && ipaddr_is_equal(&a->addr.addr, s->addr);
}

static int check_addresses(struct podlink *link, const struct believed *b, struct err *err)
{
	for (size_t i = 0; i < b->ips.count; i++) {
		struct addr_search s = {link->ifindex, &b->ips.ip[i]};
		char text[IPADDR_TEXT_MAX];
		int r = link_addr_foreach(link->rtnl, match_addr, &s, err);

		if (r < 0)
			return r;
		if (r == 0)
			return err_set(err, EADDRNOTAVAIL, "address %s on `%s`",
				       ipaddr_format(s.addr, text), link->ifname);
	}
	return 0;
}

struct route_search {
	bool has_gateway;
	struct ipaddr gateway;
};

static int match_route(const struct link_route *r, void *arg)
{
	const struct route_search *s = arg;

	return r->dst.len == 0 && (!s->has_gateway || (r->has_gateway &&
						       ipaddr_is_equal(&r->gateway, &s->gateway)));
}

// One entry of prevResult.routes; only default routes are ours to check.
static int check_route(struct podlink *link, const struct jval *route, struct err *err)
{
	struct route_search s = {0};
	struct ipprefix dst;
	const char *gw = "";
	int r = jget_ipprefix(route, "dst", JREQUIRED | JNOCASE, &dst, err);

	if (r < 0 || dst.len != 0)
		return r;
	r = jget_string(route, "gw", JOPTIONAL | JNOCASE, &gw, err);
	if (r < 0)
		return r;
	s.has_gateway = gw[0] != 0;
	if (s.has_gateway && ipaddr_parse(gw, &s.gateway) < 0)
		return err_set(err, 0, "%s.gw: `%.64s` is no address", route->path, gw);
	r = link_route_foreach(link->rtnl, ipaddr_is_v4(&dst.addr) ? AF_INET : AF_INET6,
			       match_route, &s, err);
	if (r == 0)
		return err_set(err, ENETUNREACH, "default route%s%s of the pod",
			       gw[0] ? " via " : "", gw);
	return r > 0 ? 0 : r;
}

static int check_routes(const struct cmd_call *call, struct podlink *link, struct err *err)
{
	struct jval arr = {0};
	int r = jget_array(&call->conf.prev_result, "routes", JOPTIONAL | JNOCASE, &arr, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&arr); i++) {
		struct jval route = jarray_at(&arr, i);

		r = jval_type(&route) == JTYPE_OBJECT ?
			    check_route(link, &route, err) :
			    err_set(err, 0, "%s: expected an object", route.path);
	}
	return r;
}

static int check_pod(const struct cmd_call *call, struct believed *b, struct podlink *link,
		     struct link_info *info, struct err *err)
{
	int r = find_interface(call, b, err);

	if (r == 0)
		r = read_ips(call, b, err);
	if (r < 0)
		return cni_code(err, r, CNI_CODE_DECODE);
	r = check_link(link, b, info, err);
	if (r == 0)
		r = check_addresses(link, b, err);
	if (r == 0)
		r = check_routes(call, link, err);
	return cni_code(err, r, CNI_CODE_MISMATCH);
}

static int check_weftd(const struct cmd_call *call, const struct believed *b,
		       const struct macaddr *mac, struct err *err)
{
	_cleanup_(daemon_closep) struct client *c = NULL;
	struct attachment a = cmd_attachment(call);
	uint64_t deadline = cmd_deadline(call, WEFTD_MS);
	int r = daemon_open(call->conf.run_dir, deadline, true, &c, err);

	return r < 0 ? r : daemon_check(c, &a, &b->ips, mac, deadline, err);
}

int cmd_check(struct cmd_call *call, char **ret_text, struct err *err)
{
	_cleanup_(podlink_fini) struct podlink link = PODLINK_INIT;
	const struct cni_args *args = &call->args;
	struct believed b = {0};
	struct link_info info;
	int r;

	(void)ret_text;
	if (jval_type(&call->conf.prev_result) != JTYPE_OBJECT)
		return err_set_code(err, CNI_CODE_CONFIG, 0, "CHECK needs the object prevResult");
	r = podlink_open(&link, args->netns, args->ifname, args->netns_override, err);
	if (r == 0)
		r = check_pod(call, &b, &link, &info, err);
	if (r == 0)
		r = check_weftd(call, &b, &info.mac, err);
	if (r == 0 && ipam_is_used(&call->conf))
		r = ipam_call(args, &call->conf, "CHECK", DELEGATE_MS, err);
	return r;
}
