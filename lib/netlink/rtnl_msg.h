// SPDX-License-Identifier: Apache-2.0
// Building rtnetlink requests, exchanging them, reading what comes back. For lib/netlink only.
//
//	_cleanup_(rtnl_req_fini) struct rtnl_req req;
//	rtnl_req_init(&req, RTM_NEWADDR, NLM_F_CREATE, &head, sizeof(head));
//	rtnl_put_addr(&req, IFA_LOCAL, &addr);
//	r = rtnl_call(rtnl, &req, NULL, NULL);
//	return r < 0 ? rtnl_fail(rtnl, r, err, "add address `%s`", text) : 0;
//
// Failures while building are remembered and come out of rtnl_call. One thread per socket.
#pragma once

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netlink/attr.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/ipaddr.h"
#include "netlink/rtnl.h"

#define RTNL_ACK_MAX 256 // bytes of the kernel's own error text, with NUL

struct nl_msg;
struct nl_sock;

struct rtnl_req {
	struct nl_msg *msg;
	bool failed;
};

// head: the fixed part behind the netlink header. NLM_F_REQUEST and NLM_F_ACK are added.
void rtnl_req_init(struct rtnl_req *req, int type, int flags, const void *head, size_t size);
void rtnl_req_fini(struct rtnl_req *req);
void rtnl_put(struct rtnl_req *req, int attr, const void *data, size_t size);
void rtnl_put_u8(struct rtnl_req *req, int attr, uint8_t value);
void rtnl_put_u32(struct rtnl_req *req, int attr, uint32_t value);
void rtnl_put_text(struct rtnl_req *req, int attr, const char *text);          // with its NUL
void rtnl_put_addr(struct rtnl_req *req, int attr, const struct ipaddr *addr); // 4 or 16 bytes
// Appends bytes without an attribute header, such as the ifinfomsg inside VETH_INFO_PEER.
void rtnl_put_raw(struct rtnl_req *req, const void *data, size_t size);
// An attribute that holds attributes. nest may be NULL in rtnl_nest_end (a failure before).
struct nlattr *rtnl_nest(struct rtnl_req *req, int attr);
void rtnl_nest_end(struct rtnl_req *req, struct nlattr *nest);

// A reply message. 0 = go on, else the call ends with this value.
typedef int rtnl_fn(const struct nlmsghdr *h, void *arg);

// One request up to its acknowledgement. fn (may be NULL) sees the replies. 0, -errno, or fn's
// value.
int rtnl_call(struct rtnl *rtnl, struct rtnl_req *req, rtnl_fn *fn, void *arg);
// A dump. It is read to its end (again where it was interrupted) before fn sees the first message,
// so fn may use the same socket. 0, -errno, or fn's non-zero value.
int rtnl_dump(struct rtnl *rtnl, struct rtnl_req *req, rtnl_fn *fn, void *arg);
// Sets err to "what: the kernel's text: strerror"; returns r (negative) unchanged.
int rtnl_fail(const struct rtnl *rtnl, int r, struct err *err, const char *fmt, ...)
	PRINTF_FORMAT(4, 5);

// What one exchange waits for and has seen.
struct rtnl_exchange {
	uint32_t seq;
	rtnl_fn *fn; // may be NULL
	void *arg;
	bool done;        // the acknowledgement, the end of the dump or an error came
	bool interrupted; // the dump is not consistent
	int result;       // once done: 0, -errno or fn's value
	char ack[RTNL_ACK_MAX];
};

// Takes one datagram from the kernel, aligned for nlmsghdr; it may hold anything.
void rtnl_exchange_feed(struct rtnl_exchange *x, const void *data, size_t size);

// Opens a socket in the calling thread's namespace; one sockaddr fits all. 0 or -errno.
int rtnl_sock_open(struct nl_sock **ret_sock);
// One datagram of the kernel, without waiting. Bytes; 0 = of no interest; -EAGAIN, -ENOBUFS (lost
// messages), -EMSGSIZE (cut) or other -errno.
int rtnl_sock_recv(int fd, void *buf, size_t size);
#define RTNL_RECV_SIZE (64u << 10) // bytes; the kernel's largest dump block is 32 KB

// Attributes behind a fixed head of head_size bytes; tb has max + 1 entries. 0 or -EBADMSG.
int rtnl_attrs(const struct nlmsghdr *h, size_t head_size, struct nlattr **tb, int max);
// Values; the fallback (or "" or false) where the attribute is missing or has the wrong size.
uint32_t rtnl_attr_u32(const struct nlattr *a, uint32_t fallback);
void rtnl_attr_text(const struct nlattr *a, char *out, size_t size);
bool rtnl_attr_addr(const struct nlattr *a, int family, struct ipaddr *ret_addr);
// AF_INET or AF_INET6.
int rtnl_family(const struct ipaddr *a);
