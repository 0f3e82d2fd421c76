// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "netlink/link_msg.h"
#include "netlink/rtnl_msg.h"
#include "unit/lib/netlink/mutate.h"
#include "unit/lib/netlink/privnet.h"

struct world {
	struct rtnl *rtnl;
	uint32_t a;
};

static int setup(void **state)
{
	static struct world w;

	*state = &w;
	if (geteuid() != 0)
		return 0;
	w.rtnl = privnet_rtnl(-1);
	w.a = privnet_veth(w.rtnl, "a", "b");
	privnet_up(w.rtnl, "a");
	privnet_up(w.rtnl, "b");
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	if (w->rtnl)
		privnet_del(w->rtnl, "a");
	rtnl_closep(&w->rtnl);
	return 0;
}

static struct ipprefix prefix(const char *text)
{
	struct ipprefix p;
	assert_int_equal(ipprefix_parse(text, &p), 0);
	return p;
}

struct wanted {
	uint32_t ifindex;
	struct ipprefix addr;
	struct link_addr got;
	unsigned count;
};

static int look(const struct link_addr *a, void *arg)
{
	struct wanted *w = arg;

	if (a->ifindex != w->ifindex || !ipaddr_is_equal(&a->addr.addr, &w->addr.addr))
		return 0;
	w->got = *a;
	w->count++;
	return 0;
}

static struct wanted look_for(const struct world *w, const char *text)
{
	struct wanted found = {.ifindex = w->a, .addr = prefix(text)};

	assert_int_equal(link_addr_foreach(w->rtnl, look, &found, NULL), 0);
	return found;
}

static void test_add_and_del(void **state)
{
	static const char *const rows[] = {"10.244.1.7/32", "192.0.2.1/24", "fd00:10:1::7/128",
					   "2001:db8::1/64"};
	struct world *w = *state;
	struct err err = ERR_INIT;

	privnet_need_root();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipprefix p = prefix(rows[i]);
		assert_int_equal(link_addr_add(w->rtnl, w->a, &p, &err), 0);
		assert_int_equal(link_addr_add(w->rtnl, w->a, &p, &err), LINK_EXISTS);
		struct wanted found = look_for(w, rows[i]);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.got.addr.len, p.len);
		assert_int_equal(found.got.scope, RT_SCOPE_UNIVERSE);
		// Usable at once: no duplicate address detection has to end first.
		assert_false(found.got.flags & IFA_F_TENTATIVE);
		if (!ipaddr_is_v4(&p.addr))
			assert_true(found.got.flags & IFA_F_NODAD);
		assert_int_equal(link_addr_del(w->rtnl, w->a, &p, &err), 0);
		assert_int_equal(look_for(w, rows[i]).count, 0);
		assert_string_equal(err.text, "");
		assert_int_equal(link_addr_del(w->rtnl, w->a, &p, &err), -EADDRNOTAVAIL);
		assert_non_null(strstr(err.text, rows[i]));
		err = ERR_INIT;
	}
}

static void test_refused(void **state)
{
	struct world *w = *state;
	struct ipprefix good = prefix("10.0.0.1/32"), multicast = prefix("ff02::1/128");
	struct ipprefix wild = {.addr = good.addr, .len = 77};
	struct err err = ERR_INIT;

	privnet_need_root();
	assert_int_equal(link_addr_add(w->rtnl, 99999, &good, &err), -ENODEV);
	assert_memory_equal(err.text, "add address `10.0.0.1/32` to link 99999: ", 41);
	assert_true(link_addr_add(w->rtnl, w->a, &multicast, &err) < 0);
	assert_true(link_addr_add(w->rtnl, w->a, &wild, &err) < 0);
}

static int stop(const struct link_addr *a, void *arg)
{
	(void)a;
	++*(int *)arg;
	return -9;
}

static void test_foreach_stops(void **state)
{
	struct world *w = *state;
	struct ipprefix p = prefix("10.0.0.1/32"), q = prefix("10.0.0.2/32");
	struct err err = ERR_INIT;
	int count = 0;

	privnet_need_root();
	assert_int_equal(link_addr_add(w->rtnl, w->a, &p, &err), 0);
	assert_int_equal(link_addr_add(w->rtnl, w->a, &q, &err), 0);
	assert_int_equal(link_addr_foreach(w->rtnl, stop, &count, &err), -9);
	assert_int_equal(count, 1);
	assert_string_equal(err.text, "");
}

// ---- neighbours ----

struct neigh {
	uint32_t ifindex;
	struct ipaddr addr;
	uint8_t mac[6];
	uint16_t state;
};

static int look_neigh(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[NDA_MAX + 1];
	struct neigh *n = arg;
	struct ndmsg nd;
	struct ipaddr addr;

	assert_int_equal(rtnl_attrs(h, sizeof(nd), tb, NDA_MAX), 0);
	memcpy(&nd, (const char *)h + NLMSG_HDRLEN, sizeof(nd));
	if ((uint32_t)nd.ndm_ifindex != n->ifindex ||
	    !rtnl_attr_addr(tb[NDA_DST], nd.ndm_family, &addr) || !ipaddr_is_equal(&addr, &n->addr))
		return 0;
	n->state = nd.ndm_state;
	assert_int_equal(nla_len(tb[NDA_LLADDR]), 6);
	memcpy(n->mac, nla_data(tb[NDA_LLADDR]), 6);
	return 0;
}

static struct neigh get_neigh(const struct world *w, const struct ipaddr *addr)
{
	struct ndmsg nd = {.ndm_family = (uint8_t)rtnl_family(addr)};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct neigh n = {.ifindex = w->a, .addr = *addr};

	rtnl_req_init(&req, RTM_GETNEIGH, NLM_F_DUMP, &nd, sizeof(nd));
	assert_int_equal(rtnl_dump(w->rtnl, &req, look_neigh, &n), 0);
	return n;
}

static void test_neigh(void **state)
{
	static const char *const rows[] = {"169.254.1.1", "fe80::1"};
	static const struct macaddr macs[] = {{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};
	struct world *w = *state;
	struct err err = ERR_INIT;

	privnet_need_root();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipaddr addr;
		assert_int_equal(ipaddr_parse(rows[i], &addr), 0);
		// The second replaces the first.
		for (size_t m = 0; m < ARRAY_LEN(macs); m++) {
			assert_int_equal(link_neigh_set(w->rtnl, w->a, &addr, &macs[m], &err), 0);
			struct neigh n = get_neigh(w, &addr);
			assert_int_equal(n.state, NUD_PERMANENT);
			assert_memory_equal(n.mac, macs[m].b, 6);
		}
		assert_int_equal(link_neigh_set(w->rtnl, 99999, &addr, &macs[0], &err), -ENODEV);
		assert_non_null(strstr(err.text, rows[i]));
		err = ERR_INIT;
	}
}

// ---- hostile bytes ----

static int decode(const struct nlmsghdr *h)
{
	struct link_addr a;
	int r = link_addr_decode(h, &a);

	if (r == 0)
		assert_true(a.addr.len <= (ipaddr_is_v4(&a.addr.addr) ? 32 : 128) && a.ifindex > 0);
	return r;
}

static void test_mutations(void **state)
{
	struct world *w = *state;
	struct ifaddrmsg ifa = {0};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct ipprefix v4 = prefix("10.0.0.1/24"), v6 = prefix("fd00::1/64");
	struct mutate m = {.decode = decode};

	privnet_need_root();
	assert_int_equal(link_addr_add(w->rtnl, w->a, &v4, NULL), 0);
	assert_int_equal(link_addr_add(w->rtnl, w->a, &v6, NULL), 0);
	rtnl_req_init(&req, RTM_GETADDR, NLM_F_DUMP, &ifa, sizeof(ifa));
	assert_int_equal(rtnl_dump(w->rtnl, &req, mutate_message, &m), 0);
	assert_true(m.messages >= 2);
}

static void test_decode(void **state)
{
	struct {
		struct nlmsghdr h;
		struct ifaddrmsg ifa;
		struct nlattr local;
		uint8_t local_addr[4];
		struct nlattr peer;
		uint8_t peer_addr[4];
	} m = {{.nlmsg_len = sizeof(m)},
	       {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 5, .ifa_flags = 0x80},
	       {8, IFA_LOCAL},
	       {10, 0, 0, 1},
	       {8, IFA_ADDRESS},
	       {10, 0, 0, 2}};
	struct link_addr a;
	char text[IPPREFIX_TEXT_MAX];

	(void)state;
	// On a point-to-point link the local address is the one of the link.
	assert_int_equal(link_addr_decode(&m.h, &a), 0);
	assert_string_equal(ipprefix_format(&a.addr, text), "10.0.0.1/32");
	assert_int_equal(a.flags, 0x80);
	m.local.nla_type = 0;
	assert_int_equal(link_addr_decode(&m.h, &a), 0);
	assert_string_equal(ipprefix_format(&a.addr, text), "10.0.0.2/32");
	m.peer.nla_type = 0;
	assert_int_equal(link_addr_decode(&m.h, &a), -EBADMSG);
	m.peer.nla_type = IFA_ADDRESS;
	m.ifa.ifa_prefixlen = 33;
	assert_int_equal(link_addr_decode(&m.h, &a), -EBADMSG);
	m.ifa.ifa_prefixlen = 32;
	m.ifa.ifa_index = 0;
	assert_int_equal(link_addr_decode(&m.h, &a), -EBADMSG);
	m.ifa.ifa_family = AF_UNIX;
	assert_int_equal(link_addr_decode(&m.h, &a), LINK_MSG_SKIP);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_add_and_del), TEST(test_refused),   TEST(test_foreach_stops),
		TEST(test_neigh),       TEST(test_mutations), TEST(test_decode),
	};
	return cmocka_run_group_tests(tests, privnet_enter, NULL);
}
