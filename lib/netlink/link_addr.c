// SPDX-License-Identifier: Apache-2.0
// Addresses of links and permanent neighbours.
#include "netlink/link.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "netlink/link_msg.h"
#include "netlink/rtnl_msg.h"

int link_addr_decode(const struct nlmsghdr *h, struct link_addr *ret_addr)
{
	struct nlattr *tb[IFA_MAX + 1];
	struct ifaddrmsg ifa;
	struct ipaddr addr;

	if (rtnl_attrs(h, sizeof(ifa), tb, IFA_MAX) < 0)
		return -EBADMSG;
	memcpy(&ifa, NLMSG_DATA(h), sizeof(ifa));
	if (ifa.ifa_family != AF_INET && ifa.ifa_family != AF_INET6)
		return LINK_MSG_SKIP;
	// On a point-to-point link IFA_ADDRESS is the other side.
	const struct nlattr *a = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	if (!rtnl_attr_addr(a, ifa.ifa_family, &addr) || ifa.ifa_index == 0 ||
	    ifa.ifa_prefixlen > (ifa.ifa_family == AF_INET ? 32 : 128))
		return -EBADMSG;
	*ret_addr = (struct link_addr){
		.ifindex = ifa.ifa_index,
		.addr = {.addr = addr, .len = ifa.ifa_prefixlen},
		.scope = ifa.ifa_scope,
		.flags = rtnl_attr_u32(tb[IFA_FLAGS], ifa.ifa_flags),
	};
	return 0;
}

static int change_addr(struct rtnl *rtnl, int type, uint32_t ifindex, const struct ipprefix *addr)
{
	struct ifaddrmsg ifa = {.ifa_family = (uint8_t)rtnl_family(&addr->addr),
				.ifa_prefixlen = addr->len,
				.ifa_index = ifindex};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	bool add = type == RTM_NEWADDR;

	rtnl_req_init(&req, type, add ? NLM_F_CREATE | NLM_F_EXCL : 0, &ifa, sizeof(ifa));
	rtnl_put_addr(&req, IFA_LOCAL, &addr->addr);
	rtnl_put_addr(&req, IFA_ADDRESS, &addr->addr);
	if (add && ifa.ifa_family == AF_INET6)
		rtnl_put_u32(&req, IFA_FLAGS, IFA_F_NODAD);
	return rtnl_call(rtnl, &req, NULL, NULL);
}

int link_addr_add(struct rtnl *rtnl, uint32_t ifindex, const struct ipprefix *addr, struct err *err)
{
	char text[IPPREFIX_TEXT_MAX];
	int r = change_addr(rtnl, RTM_NEWADDR, ifindex, addr);

	if (r == -EEXIST)
		return LINK_EXISTS;
	return r < 0 ? rtnl_fail(rtnl, r, err, "add address `%s` to link %u",
				 ipprefix_format(addr, text), ifindex)
		     : 0;
}

int link_addr_del(struct rtnl *rtnl, uint32_t ifindex, const struct ipprefix *addr, struct err *err)
{
	char text[IPPREFIX_TEXT_MAX];
	int r = change_addr(rtnl, RTM_DELADDR, ifindex, addr);

	return r < 0 ? rtnl_fail(rtnl, r, err, "delete address `%s` of link %u",
				 ipprefix_format(addr, text), ifindex)
		     : 0;
}

struct all_addrs {
	int (*fn)(const struct link_addr *a, void *arg);
	void *arg;
	int result; // of fn
};

static int pass_addr(const struct nlmsghdr *h, void *arg)
{
	struct all_addrs *all = arg;
	struct link_addr addr;
	int r = link_addr_decode(h, &addr);

	if (r != 0)
		return r < 0 ? r : 0;
	all->result = all->fn(&addr, all->arg);
	return all->result;
}

int link_addr_foreach(struct rtnl *rtnl, int (*fn)(const struct link_addr *a, void *arg), void *arg,
		      struct err *err)
{
	struct ifaddrmsg ifa = {.ifa_family = AF_UNSPEC};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct all_addrs all = {.fn = fn, .arg = arg};

	rtnl_req_init(&req, RTM_GETADDR, NLM_F_DUMP, &ifa, sizeof(ifa));
	int r = rtnl_dump(rtnl, &req, pass_addr, &all);
	if (r < 0 && all.result == 0)
		return rtnl_fail(rtnl, r, err, "read all addresses");
	return r;
}

int link_neigh_set(struct rtnl *rtnl, uint32_t ifindex, const struct ipaddr *addr,
		   const struct macaddr *mac, struct err *err)
{
	struct ndmsg nd = {.ndm_family = (uint8_t)rtnl_family(addr),
			   .ndm_ifindex = (int)ifindex,
			   .ndm_state = NUD_PERMANENT};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	char text[IPADDR_TEXT_MAX];

	rtnl_req_init(&req, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &nd, sizeof(nd));
	rtnl_put_addr(&req, NDA_DST, addr);
	rtnl_put(&req, NDA_LLADDR, mac->b, sizeof(mac->b));
	int r = rtnl_call(rtnl, &req, NULL, NULL);
	return r < 0 ? rtnl_fail(rtnl, r, err, "set neighbour `%s` on link %u",
				 ipaddr_format(addr, text), ifindex)
		     : 0;
}
