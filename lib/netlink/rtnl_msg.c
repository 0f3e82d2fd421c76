// SPDX-License-Identifier: Apache-2.0
#include "netlink/rtnl_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/msg.h>

void rtnl_req_init(struct rtnl_req *req, int type, int flags, const void *head, size_t size)
{
	req->msg = nlmsg_alloc_simple(type, flags);
	req->failed = !req->msg;
	rtnl_put_raw(req, head, size);
}

void rtnl_req_fini(struct rtnl_req *req)
{
	nlmsg_free(req->msg);
	req->msg = NULL;
}

void rtnl_put_raw(struct rtnl_req *req, const void *data, size_t size)
{
	// nlmsg_append takes no const; it only copies.
	if (!req->failed && nlmsg_append(req->msg, (void *)data, size, NLMSG_ALIGNTO) < 0)
		req->failed = true;
}

void rtnl_put(struct rtnl_req *req, int attr, const void *data, size_t size)
{
	if (!req->failed && nla_put(req->msg, attr, (int)size, data) < 0)
		req->failed = true;
}

void rtnl_put_u8(struct rtnl_req *req, int attr, uint8_t value)
{
	rtnl_put(req, attr, &value, sizeof(value));
}

void rtnl_put_u32(struct rtnl_req *req, int attr, uint32_t value)
{
	rtnl_put(req, attr, &value, sizeof(value));
}

void rtnl_put_text(struct rtnl_req *req, int attr, const char *text)
{
	rtnl_put(req, attr, text, strlen(text) + 1);
}

void rtnl_put_addr(struct rtnl_req *req, int attr, const struct ipaddr *addr)
{
	if (ipaddr_is_v4(addr))
		rtnl_put_u32(req, attr, ipaddr_v4(addr));
	else
		rtnl_put(req, attr, addr->b, sizeof(addr->b));
}

struct nlattr *rtnl_nest(struct rtnl_req *req, int attr)
{
	struct nlattr *nest = req->failed ? NULL : nla_nest_start(req->msg, attr);

	if (!nest)
		req->failed = true;
	return nest;
}

void rtnl_nest_end(struct rtnl_req *req, struct nlattr *nest)
{
	if (!req->failed)
		nla_nest_end(req->msg, nest);
}

int rtnl_attrs(const struct nlmsghdr *h, size_t head_size, struct nlattr **tb, int max)
{
	return nlmsg_parse((struct nlmsghdr *)h, (int)head_size, tb, max, NULL) < 0 ? -EBADMSG : 0;
}

uint32_t rtnl_attr_u32(const struct nlattr *a, uint32_t fallback)
{
	uint32_t value;

	if (!a || (size_t)nla_len(a) < sizeof(value))
		return fallback;
	memcpy(&value, nla_data(a), sizeof(value));
	return value;
}

void rtnl_attr_text(const struct nlattr *a, char *out, size_t size)
{
	size_t len = a ? strnlen(nla_data(a), (size_t)nla_len(a)) : 0;

	if (len >= size)
		len = size - 1;
	if (len > 0)
		memcpy(out, nla_data(a), len);
	out[len] = '\0';
}

bool rtnl_attr_addr(const struct nlattr *a, int family, struct ipaddr *ret_addr)
{
	size_t size = a ? (size_t)nla_len(a) : 0;

	if (family == AF_INET && size == 4) {
		*ret_addr = ipaddr_from_v4(rtnl_attr_u32(a, 0));
		return true;
	}
	if (family == AF_INET6 && size == 16) {
		*ret_addr = ipaddr_from_v6(nla_data(a));
		return true;
	}
	return false;
}

int rtnl_family(const struct ipaddr *a)
{
	return ipaddr_is_v4(a) ? AF_INET : AF_INET6;
}
