// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
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
	uint32_t a, c;
};

static struct ipprefix prefix(const char *text)
{
	struct ipprefix p;
	assert_int_equal(ipprefix_parse(text, &p), 0);
	return p;
}

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;
	assert_int_equal(ipaddr_parse(text, &a), 0);
	return a;
}

static int setup(void **state)
{
	static struct world w;
	struct ipprefix v4 = prefix("10.244.1.7/32"), v6 = prefix("fd00:10:1::7/128");

	*state = &w;
	if (geteuid() != 0)
		return 0;
	w.rtnl = privnet_rtnl(-1);
	w.a = privnet_veth(w.rtnl, "a", "b");
	w.c = privnet_veth(w.rtnl, "c", "d");
	privnet_up(w.rtnl, "a");
	privnet_up(w.rtnl, "b");
	privnet_up(w.rtnl, "c");
	privnet_up(w.rtnl, "d");
	assert_int_equal(link_addr_add(w.rtnl, w.a, &v4, NULL), 0);
	assert_int_equal(link_addr_add(w.rtnl, w.a, &v6, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	if (w->rtnl) {
		privnet_del(w->rtnl, "a");
		privnet_del(w->rtnl, "c");
	}
	rtnl_closep(&w->rtnl);
	return 0;
}

struct wanted {
	struct ipprefix dst;
	uint32_t table;
	struct link_route got;
	unsigned count;
};

static int look(const struct link_route *r, void *arg)
{
	struct wanted *w = arg;

	if (r->dst.len != w->dst.len || !ipaddr_is_equal(&r->dst.addr, &w->dst.addr) ||
	    r->table != w->table)
		return 0;
	w->got = *r;
	w->count++;
	return 0;
}

static struct wanted look_for(const struct world *w, const char *dst, uint32_t table)
{
	struct wanted found = {.dst = prefix(dst), .table = table ? table : RT_TABLE_MAIN};
	int family = rtnl_family(&found.dst.addr);
	struct wanted all = found;

	assert_int_equal(link_route_foreach(w->rtnl, family, look, &found, NULL), 0);
	// Both families at once show the same.
	assert_int_equal(link_route_foreach(w->rtnl, AF_UNSPEC, look, &all, NULL), 0);
	assert_int_equal(all.count, found.count);
	return found;
}

static void set(const struct world *w, const struct link_route *r)
{
	struct err err = ERR_INIT;

	if (link_route_set(w->rtnl, r, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
}

// The routes of a pod: link-local gateways that no subnet contains.
static void test_pod_routes(void **state)
{
	struct world *w = *state;

	privnet_need_root();
	struct link_route host = {
		.dst = prefix("169.254.1.1/32"), .ifindex = w->a, .scope = RT_SCOPE_LINK};
	struct link_route v4 = {.dst = prefix("0.0.0.0/0"),
				.ifindex = w->a,
				.has_gateway = true,
				.gateway = addr("169.254.1.1"),
				.mtu = 1450,
				.has_source = true,
				.source = addr("10.244.1.7")};
	struct link_route v6 = {.dst = prefix("::/0"),
				.ifindex = w->a,
				.has_gateway = true,
				.gateway = addr("fe80::1"),
				.mtu = 1450};
	set(w, &host);
	set(w, &v4);
	set(w, &v6);
	struct wanted found = look_for(w, "169.254.1.1/32", 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.got.scope, RT_SCOPE_LINK);
	assert_false(found.got.has_gateway);
	assert_int_equal(found.got.protocol, RTPROT_STATIC);
	found = look_for(w, "0.0.0.0/0", 0);
	assert_int_equal(found.count, 1);
	assert_true(found.got.has_gateway && found.got.has_source);
	assert_true(ipaddr_is_equal(&found.got.gateway, &v4.gateway));
	assert_true(ipaddr_is_equal(&found.got.source, &v4.source));
	assert_int_equal(found.got.mtu, 1450);
	assert_int_equal(found.got.ifindex, w->a);
	found = look_for(w, "::/0", 0);
	assert_int_equal(found.count, 1);
	assert_true(ipaddr_is_equal(&found.got.gateway, &v6.gateway));
	assert_int_equal(found.got.mtu, 1450);
}

static void test_onlink(void **state)
{
	struct world *w = *state;
	struct err err = ERR_INIT;

	privnet_need_root();
	struct link_route r = {.dst = prefix("10.9.0.0/16"),
			       .ifindex = w->a,
			       .has_gateway = true,
			       .gateway = addr("169.254.1.1")};
	// Without the flag the kernel wants a route to the gateway first, and says so.
	assert_int_equal(link_route_set(w->rtnl, &r, &err), -ENETUNREACH);
	assert_non_null(strstr(err.text, "set route `10.9.0.0/16`: Nexthop"));
	r.onlink = true;
	set(w, &r);
	assert_true(look_for(w, "10.9.0.0/16", 0).got.onlink);
}

static void test_table_protocol_metric(void **state)
{
	static const char *const rows[] = {"10.8.0.0/16", "fd00:8::/32"};
	struct world *w = *state;

	privnet_need_root();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		// A table that does not fit the 8 bits of the old field.
		struct link_route r = {.dst = prefix(rows[i]),
				       .ifindex = w->a,
				       .table = 70000,
				       .protocol = 201,
				       .metric = 50};
		set(w, &r);
		assert_int_equal(look_for(w, rows[i], 0).count, 0);
		struct wanted found = look_for(w, rows[i], 70000);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.got.protocol, 201);
		assert_int_equal(found.got.metric, 50);
		// Replaced, not added.
		r.ifindex = w->c;
		set(w, &r);
		found = look_for(w, rows[i], 70000);
		assert_int_equal(found.count, 1);
		assert_int_equal(found.got.ifindex, w->c);
	}
}

static void test_del(void **state)
{
	static const char *const rows[] = {"10.7.0.0/16", "fd00:7::/32"};
	struct world *w = *state;

	privnet_need_root();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct link_route r = {.dst = prefix(rows[i]),
				       .ifindex = w->a,
				       .protocol = 201,
				       .scope = RT_SCOPE_LINK};
		set(w, &r);
		struct link_route other = r, any = {.dst = r.dst};
		other.protocol = 202;
		assert_int_equal(link_route_del(w->rtnl, &other, &err), -ESRCH);
		assert_non_null(strstr(err.text, rows[i]));
		other = r;
		other.ifindex = w->c;
		assert_int_equal(link_route_del(w->rtnl, &other, NULL), -ESRCH);
		assert_int_equal(look_for(w, rows[i], 0).count, 1);
		assert_int_equal(link_route_del(w->rtnl, &any, NULL), 0);
		assert_int_equal(look_for(w, rows[i], 0).count, 0);
		assert_int_equal(link_route_del(w->rtnl, &r, NULL), -ESRCH);
	}
}

static void test_host_bits(void **state)
{
	struct world *w = *state;

	privnet_need_root();
	struct link_route r = {.dst = prefix("10.6.1.2/16"), .ifindex = w->a};
	set(w, &r);
	assert_int_equal(look_for(w, "10.6.0.0/16", 0).count, 1);
	assert_int_equal(link_route_del(w->rtnl, &r, NULL), 0);
}

static void test_refused(void **state)
{
	struct world *w = *state;
	const struct link_route rows[] = {
		{.dst = {.addr = addr("10.0.0.0"), .len = 33}},
		{.dst = {.addr = addr("fd00::"), .len = 129}},
		{.dst = prefix("10.0.0.0/8"), .has_gateway = true, .gateway = addr("fe80::1")},
		{.dst = prefix("fd00::/8"), .has_gateway = true, .gateway = addr("10.0.0.1")},
		{.dst = prefix("10.0.0.0/8"), .has_source = true, .source = addr("fd00::1")},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		assert_int_equal(link_route_set(w->rtnl, &rows[i], &err), -EINVAL);
		assert_memory_equal(err.text, "route `", 7);
		assert_int_equal(link_route_del(w->rtnl, &rows[i], &err), -EINVAL);
	}
	privnet_need_root();
	struct link_route r = {.dst = prefix("10.5.0.0/16"), .ifindex = 99999};
	assert_int_equal(link_route_set(w->rtnl, &r, NULL), -ENODEV);
}

static int stop(const struct link_route *r, void *arg)
{
	(void)r;
	++*(int *)arg;
	return 4;
}

static void test_foreach_stops(void **state)
{
	struct world *w = *state;
	struct err err = ERR_INIT;
	int count = 0;

	privnet_need_root();
	assert_int_equal(link_route_foreach(w->rtnl, AF_INET6, stop, &count, &err), 4);
	assert_int_equal(count, 1);
}

// ---- hostile and unusual messages ----

// A route whose gateway is not in the usual place.
static void add_unusual(const struct world *w, bool multipath)
{
	struct rtmsg rt = {.rtm_family = AF_INET,
			   .rtm_dst_len = 16,
			   .rtm_table = RT_TABLE_MAIN,
			   .rtm_protocol = RTPROT_STATIC,
			   .rtm_type = RTN_UNICAST};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct ipaddr dst = addr(multipath ? "10.21.0.0" : "10.22.0.0"), gw6 = addr("fe80::5");
	struct {
		struct rtnexthop hop;
		struct nlattr attr;
		uint8_t gw[4];
	} hops[2] = {
		{{sizeof(hops[0]), RTNH_F_ONLINK, 0, (int)w->a}, {8, RTA_GATEWAY}, {10, 1, 0, 1}},
		{{sizeof(hops[0]), RTNH_F_ONLINK, 0, (int)w->c}, {8, RTA_GATEWAY}, {10, 1, 0, 2}},
	};
	struct {
		uint16_t family;
		uint8_t addr[16];
	} via = {.family = AF_INET6};

	memcpy(via.addr, gw6.b, sizeof(via.addr));
	rtnl_req_init(&req, RTM_NEWROUTE, NLM_F_CREATE, &rt, sizeof(rt));
	rtnl_put_addr(&req, RTA_DST, &dst);
	if (multipath) {
		rtnl_put(&req, RTA_MULTIPATH, hops, sizeof(hops));
	} else {
		rtnl_put_u32(&req, RTA_OIF, w->a);
		rtnl_put(&req, RTA_VIA, &via, sizeof(via));
	}
	assert_int_equal(rtnl_call(w->rtnl, &req, NULL, NULL), 0);
}

static void test_unusual_gateways(void **state)
{
	struct world *w = *state;
	char text[IPADDR_TEXT_MAX];

	privnet_need_root();
	add_unusual(w, true);
	struct wanted found = look_for(w, "10.21.0.0/16", 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.got.ifindex, w->a);
	assert_true(found.got.onlink && found.got.has_gateway);
	assert_string_equal(ipaddr_format(&found.got.gateway, text), "10.1.0.1");
	add_unusual(w, false);
	found = look_for(w, "10.22.0.0/16", 0);
	assert_int_equal(found.count, 1);
	assert_true(found.got.has_gateway);
	assert_string_equal(ipaddr_format(&found.got.gateway, text), "fe80::5");
}

static int decode(const struct nlmsghdr *h)
{
	struct link_route r;
	int ret = link_route_decode(h, &r);

	if (ret == 0)
		assert_true(r.dst.len <= (ipaddr_is_v4(&r.dst.addr) ? 32 : 128));
	return ret;
}

static void test_mutations(void **state)
{
	struct world *w = *state;
	struct rtmsg rt = {0};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct mutate m = {.decode = decode};

	privnet_need_root();
	struct link_route full = {.dst = prefix("10.4.0.0/16"),
				  .ifindex = w->a,
				  .onlink = true,
				  .has_gateway = true,
				  .gateway = addr("10.1.0.1"),
				  .mtu = 1400,
				  .has_source = true,
				  .source = addr("10.244.1.7"),
				  .metric = 9};
	set(w, &full);
	add_unusual(w, true);
	add_unusual(w, false);
	rtnl_req_init(&req, RTM_GETROUTE, NLM_F_DUMP, &rt, sizeof(rt));
	assert_int_equal(rtnl_dump(w->rtnl, &req, mutate_message, &m), 0);
	assert_true(m.messages > 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pod_routes),
		TEST(test_onlink),
		TEST(test_table_protocol_metric),
		TEST(test_del),
		TEST(test_host_bits),
		TEST(test_refused),
		TEST(test_foreach_stops),
		TEST(test_unusual_gateways),
		TEST(test_mutations),
	};
	return cmocka_run_group_tests(tests, privnet_enter, NULL);
}
