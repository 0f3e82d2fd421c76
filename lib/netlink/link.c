// SPDX-License-Identifier: Apache-2.0
#include "netlink/link.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "netlink/link_msg.h"
#include "netlink/rtnl_msg.h"

// Newer than the oldest headers we build with (Linux 6.3); older kernels skip unknown attributes.
#define GSO_IPV4_MAX_SIZE 63
#define ADDR_GEN_MODE_NONE 1 // IN6_ADDR_GEN_MODE_NONE

// ---- decoding ----

static void decode_kind(const struct nlattr *linkinfo, struct link_info *info)
{
	if (linkinfo)
		rtnl_attr_text(nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_KIND),
			       info->kind, sizeof(info->kind));
}

int link_info_decode(const struct nlmsghdr *h, struct link_info *ret_info)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct ifinfomsg ifi;

	if (rtnl_attrs(h, sizeof(ifi), tb, IFLA_MAX) < 0)
		return -EBADMSG;
	memcpy(&ifi, NLMSG_DATA(h), sizeof(ifi));
	// A bridge port is told about a second time, with less in it.
	if (ifi.ifi_family != AF_UNSPEC)
		return LINK_MSG_SKIP;
	if (ifi.ifi_index <= 0)
		return -EBADMSG;
	*ret_info = (struct link_info){.ifindex = (uint32_t)ifi.ifi_index, .flags = ifi.ifi_flags};
	ret_info->peer_ifindex = rtnl_attr_u32(tb[IFLA_LINK], 0);
	ret_info->mtu = rtnl_attr_u32(tb[IFLA_MTU], 0);
	rtnl_attr_text(tb[IFLA_IFNAME], ret_info->name, sizeof(ret_info->name));
	rtnl_attr_text(tb[IFLA_IFALIAS], ret_info->alias, sizeof(ret_info->alias));
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) == sizeof(ret_info->mac.b))
		memcpy(ret_info->mac.b, nla_data(tb[IFLA_ADDRESS]), sizeof(ret_info->mac.b));
	decode_kind(tb[IFLA_LINKINFO], ret_info);
	return 0;
}

// ---- reading ----

struct one_link {
	struct link_info *info;
	bool found;
};

static int take_link(const struct nlmsghdr *h, void *arg)
{
	struct one_link *one = arg;
	int r = link_info_decode(h, one->info);

	if (r == 0)
		one->found = true;
	return r < 0 ? r : 0;
}

static int get_link(struct rtnl *rtnl, uint32_t ifindex, const char *name, struct link_info *ret)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct link_info info;
	struct one_link one = {.info = &info};

	rtnl_req_init(&req, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	if (name)
		rtnl_put_text(&req, IFLA_IFNAME, name);
	int r = rtnl_call(rtnl, &req, take_link, &one);
	if (r == -ENODEV)
		return LINK_NOT_FOUND;
	if (r == 0 && !one.found)
		r = -EBADMSG;
	if (r == 0)
		*ret = info;
	return r;
}

static int check_name(const char *name, struct err *err)
{
	size_t len = strlen(name);

	if (len == 0 || len >= LINK_NAME_MAX)
		return err_set(err, 0, "`%s` is no name for a link", name);
	return 0;
}

int link_get_by_name(struct rtnl *rtnl, const char *name, struct link_info *ret, struct err *err)
{
	int r = check_name(name, err);

	if (r < 0)
		return r;
	r = get_link(rtnl, 0, name, ret);
	return r < 0 ? rtnl_fail(rtnl, r, err, "read link `%s`", name) : r;
}

int link_get_by_index(struct rtnl *rtnl, uint32_t ifindex, struct link_info *ret, struct err *err)
{
	int r = ifindex > 0 ? get_link(rtnl, ifindex, NULL, ret) : LINK_NOT_FOUND;

	return r < 0 ? rtnl_fail(rtnl, r, err, "read link %u", ifindex) : r;
}

struct all_links {
	int (*fn)(const struct link_info *info, void *arg);
	void *arg;
	int result; // of fn
};

static int pass_link(const struct nlmsghdr *h, void *arg)
{
	struct all_links *all = arg;
	struct link_info info;
	int r = link_info_decode(h, &info);

	if (r != 0)
		return r < 0 ? r : 0;
	all->result = all->fn(&info, all->arg);
	return all->result;
}

int link_foreach(struct rtnl *rtnl, int (*fn)(const struct link_info *info, void *arg), void *arg,
		 struct err *err)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct all_links all = {.fn = fn, .arg = arg};

	rtnl_req_init(&req, RTM_GETLINK, NLM_F_DUMP, &ifi, sizeof(ifi));
	int r = rtnl_dump(rtnl, &req, pass_link, &all);
	// What fn returned is the caller's own.
	if (r < 0 && all.result == 0)
		return rtnl_fail(rtnl, r, err, "read all links");
	return r;
}

// ---- making ----

static bool mac_is_set(const struct macaddr *mac)
{
	static const struct macaddr none;

	return memcmp(mac, &none, sizeof(none)) != 0;
}

static void put_end(struct rtnl_req *req, const char *name, const struct macaddr *mac, uint32_t mtu)
{
	rtnl_put_text(req, IFLA_IFNAME, name);
	if (mac_is_set(mac))
		rtnl_put(req, IFLA_ADDRESS, mac->b, sizeof(mac->b));
	if (mtu > 0)
		rtnl_put_u32(req, IFLA_MTU, mtu);
}

static void put_peer(struct rtnl_req *req, const struct link_veth *v)
{
	struct ifinfomsg ifi = {.ifi_index = (int)v->peer_ifindex};
	struct nlattr *linkinfo = rtnl_nest(req, IFLA_LINKINFO);

	rtnl_put_text(req, IFLA_INFO_KIND, "veth");
	struct nlattr *data = rtnl_nest(req, IFLA_INFO_DATA);
	struct nlattr *peer = rtnl_nest(req, VETH_INFO_PEER);
	rtnl_put_raw(req, &ifi, sizeof(ifi));
	put_end(req, v->peer_name, &v->peer_mac, v->mtu);
	if (v->peer_netns_fd >= 0)
		rtnl_put_u32(req, IFLA_NET_NS_FD, (uint32_t)v->peer_netns_fd);
	rtnl_nest_end(req, peer);
	rtnl_nest_end(req, data);
	rtnl_nest_end(req, linkinfo);
}

static int max_index(const struct link_info *info, void *arg)
{
	uint32_t *max = arg;

	if (info->ifindex > *max)
		*max = info->ifindex;
	return 0;
}

// The kernel honours the peer's wanted index only where the first end asks for one as well
// (veth_newlink). The next one after all others was never given out before.
static int own_index(struct rtnl *rtnl, const struct link_veth *v, uint32_t *ret_ifindex,
		     struct err *err)
{
	uint32_t max = 0;

	*ret_ifindex = 0;
	if (v->peer_ifindex == 0)
		return 0;
	int r = link_foreach(rtnl, max_index, &max, err);
	if (r == 0)
		*ret_ifindex = max + 1;
	return r;
}

int link_add_veth(struct rtnl *rtnl, const struct link_veth *v, struct err *err)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	_cleanup_(rtnl_req_fini) struct rtnl_req req = {0};
	uint32_t ifindex;

	if (check_name(v->name, err) < 0 || check_name(v->peer_name, err) < 0)
		return -EINVAL;
	int r = own_index(rtnl, v, &ifindex, err);
	if (r < 0)
		return r;
	ifi.ifi_index = (int)ifindex;
	rtnl_req_init(&req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	put_end(&req, v->name, &v->mac, v->mtu);
	if (v->gso_max_segs > 0)
		rtnl_put_u32(&req, IFLA_GSO_MAX_SEGS, v->gso_max_segs);
	if (v->gso_max_size > 0) {
		rtnl_put_u32(&req, IFLA_GSO_MAX_SIZE, v->gso_max_size);
		rtnl_put_u32(&req, GSO_IPV4_MAX_SIZE, v->gso_max_size);
	}
	put_peer(&req, v);
	r = rtnl_call(rtnl, &req, NULL, NULL);
	// EBUSY is how older kernels say that an index is taken.
	if (r == -EEXIST || r == -EBUSY)
		return LINK_EXISTS;
	return r < 0 ? rtnl_fail(rtnl, r, err, "add veth `%s`, peer `%s`", v->name, v->peer_name)
		     : 0;
}

int link_del(struct rtnl *rtnl, uint32_t ifindex, struct err *err)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex};
	_cleanup_(rtnl_req_fini) struct rtnl_req req = {0};

	// Index 0 would make the kernel look for a name.
	if (ifindex == 0)
		return LINK_NOT_FOUND;
	rtnl_req_init(&req, RTM_DELLINK, 0, &ifi, sizeof(ifi));
	int r = rtnl_call(rtnl, &req, NULL, NULL);
	if (r == -ENODEV)
		return LINK_NOT_FOUND;
	return r < 0 ? rtnl_fail(rtnl, r, err, "delete link %u", ifindex) : 0;
}

// ---- changing ----

// In a request of its own, and first: in one request the kernel would set the link up before it
// comes to this, and the address would be made.
static int set_addrgen_none(struct rtnl *rtnl, uint32_t ifindex)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;

	rtnl_req_init(&req, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	struct nlattr *spec = rtnl_nest(&req, IFLA_AF_SPEC);
	struct nlattr *inet6 = rtnl_nest(&req, AF_INET6);
	rtnl_put_u8(&req, IFLA_INET6_ADDR_GEN_MODE, ADDR_GEN_MODE_NONE);
	rtnl_nest_end(&req, inet6);
	rtnl_nest_end(&req, spec);
	int r = rtnl_call(rtnl, &req, NULL, NULL);
	// Without IPv6 on the link no address is made either.
	return r == -EAFNOSUPPORT ? 0 : r;
}

static void set_flag(struct ifinfomsg *ifi, int wanted, unsigned flag)
{
	if (wanted < 0)
		return;
	ifi->ifi_change |= flag;
	if (wanted > 0)
		ifi->ifi_flags |= flag;
}

static int set_rest(struct rtnl *rtnl, const struct link_change *c)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = (int)c->ifindex};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;

	set_flag(&ifi, c->up, IFF_UP);
	set_flag(&ifi, c->noarp, IFF_NOARP);
	rtnl_req_init(&req, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	if (c->mtu > 0)
		rtnl_put_u32(&req, IFLA_MTU, c->mtu);
	// The kernel counts the NUL as part of the alias; only an empty one needs it.
	if (c->alias)
		rtnl_put(&req, IFLA_IFALIAS, c->alias, c->alias[0] ? strlen(c->alias) : 1);
	if (c->mac)
		rtnl_put(&req, IFLA_ADDRESS, c->mac->b, sizeof(c->mac->b));
	return rtnl_call(rtnl, &req, NULL, NULL);
}

int link_set(struct rtnl *rtnl, const struct link_change *c, struct err *err)
{
	int r = 0;

	if (c->ifindex == 0 || (c->alias && strlen(c->alias) >= LINK_ALIAS_MAX))
		return err_set(err, 0, "change link %u: invalid index or alias", c->ifindex);
	if (c->addrgen_none)
		r = set_addrgen_none(rtnl, c->ifindex);
	if (r == 0)
		r = set_rest(rtnl, c);
	return r < 0 ? rtnl_fail(rtnl, r, err, "change link %u", c->ifindex) : 0;
}
