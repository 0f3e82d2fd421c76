// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/msg.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "netlink/link_msg.h"
#include "netlink/monitor.h"
#include "netlink/rtnl_msg.h"
#include "unit/lib/netlink/mutate.h"
#include "unit/lib/netlink/privnet.h"

#define GSO_IPV4_MAX_SIZE 63

struct ends {
	int netns;
	struct rtnl *here, *there; // the test's namespace, and one more
};

static int setup(void **state)
{
	static struct ends e;

	e = (struct ends){.netns = -1};
	*state = &e;
	if (geteuid() != 0)
		return 0;
	e.netns = privnet_netns("peer");
	e.here = privnet_rtnl(-1);
	e.there = privnet_rtnl(e.netns);
	return 0;
}

static int teardown(void **state)
{
	struct ends *e = *state;

	rtnl_closep(&e->here);
	rtnl_closep(&e->there);
	if (e->netns < 0)
		return 0;
	close(e->netns);
	return netns_remove("peer", NULL);
}

static struct link_info get(struct rtnl *rtnl, uint32_t ifindex)
{
	struct link_info info = {0};
	struct err err = ERR_INIT;

	if (link_get_by_index(rtnl, ifindex, &info, &err) != 0)
		fail_msg("link %u: %s", ifindex, err.text);
	return info;
}

// ---- veth ----

struct gso {
	uint32_t size, segs, ipv4;
};

static int read_gso(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[GSO_IPV4_MAX_SIZE + 1];
	struct gso *gso = arg;

	assert_int_equal(rtnl_attrs(h, sizeof(struct ifinfomsg), tb, GSO_IPV4_MAX_SIZE), 0);
	gso->size = rtnl_attr_u32(tb[IFLA_GSO_MAX_SIZE], 0);
	gso->segs = rtnl_attr_u32(tb[IFLA_GSO_MAX_SEGS], 0);
	// 0 on kernels that do not know it.
	gso->ipv4 = rtnl_attr_u32(tb[GSO_IPV4_MAX_SIZE], 0);
	return 0;
}

static struct gso get_gso(struct rtnl *rtnl, uint32_t ifindex)
{
	struct ifinfomsg ifi = {.ifi_index = (int)ifindex};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct gso gso = {0};

	rtnl_req_init(&req, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	assert_int_equal(rtnl_call(rtnl, &req, read_gso, &gso), 0);
	return gso;
}

// One request makes a pod's link: everything that attach asks for.
static void test_veth_across(void **state)
{
	struct ends *e = *state;
	struct err err = ERR_INIT;
	struct link_veth v = {
		.name = "eth0",
		.peer_name = "w0123456789ab",
		.peer_netns_fd = e->netns,
		.peer_ifindex = 4711,
		.mac = {{2, 0, 0, 0, 0, 1}},
		.peer_mac = {{2, 0, 0, 0, 0, 2}},
		.mtu = 1450,
		.gso_max_size = 61440,
		.gso_max_segs = 100,
	};

	privnet_need_root();
	if (link_add_veth(e->here, &v, &err) != 0)
		fail_msg("%s", err.text);
	struct link_info a = privnet_link(e->here, "eth0"), b = get(e->there, 4711);
	assert_int_equal(a.peer_ifindex, 4711);
	assert_int_equal(b.peer_ifindex, a.ifindex);
	assert_string_equal(b.name, "w0123456789ab");
	assert_string_equal(a.kind, "veth");
	assert_int_equal(a.mtu, 1450);
	assert_int_equal(b.mtu, 1450);
	assert_memory_equal(a.mac.b, v.mac.b, 6);
	assert_memory_equal(b.mac.b, v.peer_mac.b, 6);
	assert_string_equal(a.alias, "");
	assert_int_equal(a.flags & IFF_UP, 0);
	struct gso gso = get_gso(e->here, a.ifindex);
	assert_int_equal(gso.size, 61440);
	assert_int_equal(gso.segs, 100);
	assert_true(gso.ipv4 == 61440 || gso.ipv4 == 0);
	privnet_del(e->here, "eth0");
	assert_int_equal(link_get_by_index(e->there, 4711, &b, &err), LINK_NOT_FOUND);
}

static void test_veth_defaults(void **state)
{
	struct ends *e = *state;
	struct link_veth v = {.name = "a", .peer_name = "b", .peer_netns_fd = -1};

	privnet_need_root();
	assert_int_equal(link_add_veth(e->here, &v, NULL), 0);
	struct link_info a = privnet_link(e->here, "a"), b = privnet_link(e->here, "b");
	assert_int_equal(a.peer_ifindex, b.ifindex);
	assert_int_equal(b.peer_ifindex, a.ifindex);
	assert_int_equal(a.mtu, 1500);
	assert_int_equal(get_gso(e->here, a.ifindex).size, 65536);
	assert_memory_not_equal(a.mac.b, b.mac.b, 6);
	privnet_del(e->here, "b");
	assert_int_equal(link_get_by_name(e->here, "a", &a, NULL), LINK_NOT_FOUND);
}

static void test_veth_taken(void **state)
{
	struct ends *e = *state;
	struct err err = ERR_INIT;
	struct link_veth first = {
		.name = "a", .peer_name = "b", .peer_netns_fd = e->netns, .peer_ifindex = 100};
	struct link_veth name = {.name = "a", .peer_name = "c", .peer_netns_fd = e->netns};
	struct link_veth peer_name = {.name = "d", .peer_name = "b", .peer_netns_fd = e->netns};
	struct link_veth index = {
		.name = "d", .peer_name = "c", .peer_netns_fd = e->netns, .peer_ifindex = 100};
	const struct link_veth *const rows[] = {&first, &name, &peer_name, &index};
	struct link_info info;

	privnet_need_root();
	assert_int_equal(link_add_veth(e->here, &first, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (link_add_veth(e->here, rows[i], &err) != LINK_EXISTS)
			fail_msg("row %zu: %s", i, err.text);
	assert_string_equal(err.text, "");
	// No half of a refused pair stays.
	assert_int_equal(link_get_by_name(e->here, "d", &info, NULL), LINK_NOT_FOUND);
	assert_int_equal(link_get_by_name(e->there, "c", &info, NULL), LINK_NOT_FOUND);
	privnet_del(e->here, "a");
}

// An index that the pod's own namespace uses for something else is free for the peer all the same.
static void test_veth_index_of_other_namespace(void **state)
{
	struct ends *e = *state;

	privnet_need_root();
	uint32_t used = privnet_veth(e->here, "x", "y");
	struct link_veth v = {
		.name = "a", .peer_name = "b", .peer_netns_fd = e->netns, .peer_ifindex = used};
	assert_int_equal(link_add_veth(e->here, &v, NULL), 0);
	assert_string_equal(get(e->there, used).name, "b");
	privnet_del(e->here, "a");
	privnet_del(e->here, "x");
}

static void test_veth_refused(void **state)
{
	static const char *const names[] = {"", "sixteen-letters-", "a/b", "a b", "."};
	struct ends *e = *state;

	privnet_need_root();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct link_veth v = {.name = names[i], .peer_name = "b", .peer_netns_fd = -1};
		struct link_veth w = {.name = "a", .peer_name = names[i], .peer_netns_fd = -1};
		struct err err = ERR_INIT;
		assert_int_equal(link_add_veth(e->here, &v, &err), -EINVAL);
		assert_non_null(strstr(err.text, names[i]));
		err = ERR_INIT;
		assert_int_equal(link_add_veth(e->here, &w, &err), -EINVAL);
		assert_non_null(strstr(err.text, names[i]));
	}
	struct link_veth v = {.name = "a", .peer_name = "b", .peer_netns_fd = 1 << 20};
	assert_int_equal(link_add_veth(e->here, &v, NULL), -EBADF);
}

// The kernel's own words reach the reader.
static void test_extended_ack(void **state)
{
	struct ends *e = *state;
	struct err err = ERR_INIT;

	privnet_need_root();
	struct link_change c = {
		.ifindex = privnet_veth(e->here, "a", "b"), .up = -1, .noarp = -1, .mtu = 1 << 20};
	assert_int_equal(link_set(e->here, &c, &err), -EINVAL);
	assert_memory_equal(err.text, "change link ", 12);
	assert_non_null(strstr(err.text, ": mtu greater than device maximum: Invalid argument"));
	privnet_del(e->here, "a");
	// Where the kernel has none, the number alone; no words of an earlier call.
	struct link_veth v = {.name = "a", .peer_name = "b", .peer_netns_fd = -1, .mtu = 1 << 20};
	assert_int_equal(link_add_veth(e->here, &v, &err), -EINVAL);
	assert_string_equal(err.text, "add veth `a`, peer `b`: Invalid argument");
}

// ---- reading ----

static void test_get(void **state)
{
	struct ends *e = *state;
	struct link_info info = {.ifindex = 77};
	struct err err = ERR_INIT;

	privnet_need_root();
	assert_int_equal(link_get_by_name(e->here, "lo", &info, &err), 0);
	assert_int_equal(info.ifindex, 1);
	assert_true(info.flags & IFF_LOOPBACK);
	assert_int_equal(info.peer_ifindex, 0);
	assert_string_equal(info.kind, "");
	info.ifindex = 77;
	assert_int_equal(link_get_by_name(e->here, "absent", &info, &err), LINK_NOT_FOUND);
	assert_int_equal(link_get_by_index(e->here, 99999, &info, &err), LINK_NOT_FOUND);
	assert_int_equal(link_get_by_index(e->here, 0, &info, &err), LINK_NOT_FOUND);
	assert_string_equal(err.text, "");
	assert_int_equal(link_get_by_name(e->here, "", &info, &err), -EINVAL);
	assert_int_equal(link_get_by_name(e->here, "sixteen-letters-", &info, &err), -EINVAL);
	assert_int_equal(info.ifindex, 77);
	assert_int_equal(link_get_by_index(e->here, UINT32_MAX, &info, &err), -EINVAL);
	assert_non_null(strstr(err.text, "read link 4294967295"));
}

struct seen {
	unsigned count;
	uint32_t stop_at;
	int result;
};

static int see(const struct link_info *info, void *arg)
{
	struct seen *s = arg;

	s->count++;
	return info->ifindex == s->stop_at ? s->result : 0;
}

static void test_foreach(void **state)
{
	struct ends *e = *state;
	struct err err = ERR_INIT;
	char name[16];

	privnet_need_root();
	// Enough for several blocks of a dump.
	for (int i = 0; i < 40; i++) {
		char peer[16];
		snprintf(name, sizeof(name), "a%d", i);
		snprintf(peer, sizeof(peer), "b%d", i);
		privnet_veth(e->there, name, peer);
	}
	struct seen s = {0};
	assert_int_equal(link_foreach(e->there, see, &s, &err), 0);
	assert_int_equal(s.count, 81);
	s = (struct seen){.stop_at = privnet_link(e->there, "a3").ifindex, .result = -5};
	assert_int_equal(link_foreach(e->there, see, &s, &err), -5);
	assert_true(s.count < 81);
	assert_string_equal(err.text, "");
}

static void test_del(void **state)
{
	struct ends *e = *state;
	struct err err = ERR_INIT;

	privnet_need_root();
	uint32_t ifindex = privnet_veth(e->here, "a", "b");
	assert_int_equal(link_del(e->here, ifindex, &err), 0);
	assert_int_equal(link_del(e->here, ifindex, &err), LINK_NOT_FOUND);
	assert_int_equal(link_del(e->here, 0, &err), LINK_NOT_FOUND);
	assert_string_equal(err.text, "");
	assert_int_equal(link_del(e->here, 1, &err), -EOPNOTSUPP);
	assert_memory_equal(err.text, "delete link 1", 13);
}

// ---- changing ----

static void test_set(void **state)
{
	struct ends *e = *state;
	struct err err = ERR_INIT;
	static const struct macaddr mac = {{2, 1, 2, 3, 4, 5}};
	char alias[LINK_ALIAS_MAX + 1];

	privnet_need_root();
	uint32_t a = privnet_veth(e->here, "a", "b");
	memset(alias, 'x', sizeof(alias));
	alias[LINK_ALIAS_MAX - 1] = '\0';
	struct link_change all = {.ifindex = a,
				  .up = 1,
				  .noarp = 1,
				  .addrgen_none = true,
				  .mtu = 1400,
				  .alias = alias,
				  .mac = &mac};
	assert_int_equal(link_set(e->here, &all, &err), 0);
	struct link_info info = get(e->here, a);
	assert_true((info.flags & IFF_UP) && (info.flags & IFF_NOARP));
	assert_int_equal(info.mtu, 1400);
	assert_string_equal(info.alias, alias);
	assert_memory_equal(info.mac.b, mac.b, 6);
	// What is not asked for stays.
	struct link_change none = {.ifindex = a, .up = -1, .noarp = -1};
	assert_int_equal(link_set(e->here, &none, &err), 0);
	struct link_info same = get(e->here, a);
	assert_memory_equal(&same, &info, sizeof(info));
	struct link_change off = {.ifindex = a, .up = 0, .noarp = 0, .alias = ""};
	assert_int_equal(link_set(e->here, &off, &err), 0);
	info = get(e->here, a);
	assert_int_equal(info.flags & (IFF_UP | IFF_NOARP), 0);
	assert_string_equal(info.alias, "");
	alias[LINK_ALIAS_MAX - 1] = 'x';
	alias[LINK_ALIAS_MAX] = '\0';
	assert_int_equal(link_set(e->here, &all, &err), -EINVAL);
	privnet_del(e->here, "a");
	alias[1] = '\0';
	assert_int_equal(link_set(e->here, &all, &err), -ENODEV);
	assert_memory_equal(err.text, "change link ", 12);
	all.ifindex = 0;
	assert_int_equal(link_set(e->here, &all, &err), -EINVAL);
}

struct link_local {
	bool seen[64]; // by index
};

static int note_link_local(const struct link_addr *a, void *arg)
{
	struct link_local *l = arg;

	if (ipaddr_is_link_local(&a->addr.addr))
		l->seen[a->ifindex % 64] = true;
	return 0;
}

static void note_event(const struct monitor_event *event, void *arg)
{
	if (event->kind == MONITOR_ADDR_NEW)
		note_link_local(&event->addr, arg);
}

// A second pair, set up later and left as it is by default, shows when the kernel has been through.
static void test_addrgen_none(void **state)
{
	struct ends *e = *state;
	struct link_local events = {0}, dump = {0};
	uint64_t deadline = clock_deadline_ns(10000);
	struct monitor *m;

	privnet_need_root();
	assert_int_equal(monitor_open(e->netns, note_event, &events, &m, NULL), 0);
	struct link_change quiet = {.ifindex = privnet_veth(e->there, "a", "b"),
				    .up = 1,
				    .noarp = -1,
				    .addrgen_none = true};
	assert_int_equal(link_set(e->there, &quiet, NULL), 0);
	privnet_up(e->there, "b");
	uint32_t loud = privnet_veth(e->there, "c", "d");
	privnet_up(e->there, "c");
	privnet_up(e->there, "d");
	while (!events.seen[loud]) {
		assert_int_equal(fdio_wait(monitor_fd(m), POLLIN, deadline), 0);
		assert_int_equal(monitor_read(m), 0);
	}
	monitor_close(m);
	assert_int_equal(link_addr_foreach(e->there, note_link_local, &dump, NULL), 0);
	assert_true(dump.seen[loud]);
	assert_true(dump.seen[privnet_link(e->there, "b").ifindex]);
	assert_false(dump.seen[quiet.ifindex] || events.seen[quiet.ifindex]);
}

// A link too small for IPv6 has nothing to switch off, which is no error.
static void test_addrgen_without_ipv6(void **state)
{
	struct ends *e = *state;

	privnet_need_root();
	struct link_change c = {
		.ifindex = privnet_veth(e->there, "a", "b"), .up = -1, .noarp = -1, .mtu = 1000};
	assert_int_equal(link_set(e->there, &c, NULL), 0);
	c.addrgen_none = true;
	assert_int_equal(link_set(e->there, &c, NULL), 0);
}

// ---- hostile bytes ----

static int decode(const struct nlmsghdr *h)
{
	struct link_info info;
	int r = link_info_decode(h, &info);

	if (r == 0) {
		assert_true(strnlen(info.name, sizeof(info.name)) < sizeof(info.name));
		assert_true(strnlen(info.alias, sizeof(info.alias)) < sizeof(info.alias));
		assert_true(strnlen(info.kind, sizeof(info.kind)) < sizeof(info.kind));
		assert_true(info.ifindex > 0);
	}
	return r;
}

static void test_mutations(void **state)
{
	struct ends *e = *state;
	struct ifinfomsg ifi = {0};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	struct mutate m = {.decode = decode};

	privnet_need_root();
	privnet_veth(e->there, "a", "b");
	rtnl_req_init(&req, RTM_GETLINK, NLM_F_DUMP, &ifi, sizeof(ifi));
	assert_int_equal(rtnl_dump(e->there, &req, mutate_message, &m), 0);
	assert_int_equal(m.messages, 3);
}

static void test_decode(void **state)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg ifi;
	} m = {{.nlmsg_len = sizeof(m)}, {.ifi_index = 3}};
	struct link_info info = {.ifindex = 77};

	(void)state;
	m.ifi.ifi_family = AF_BRIDGE;
	assert_int_equal(link_info_decode(&m.h, &info), LINK_MSG_SKIP);
	m.ifi.ifi_family = AF_UNSPEC;
	m.ifi.ifi_index = -1;
	assert_int_equal(link_info_decode(&m.h, &info), -EBADMSG);
	assert_int_equal(info.ifindex, 77);
	m.ifi.ifi_index = 3;
	assert_int_equal(link_info_decode(&m.h, &info), 0);
	assert_int_equal(info.ifindex, 3);
	assert_string_equal(info.name, "");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_veth_across),  TEST(test_veth_defaults),
		TEST(test_veth_taken),   TEST(test_veth_index_of_other_namespace),
		TEST(test_veth_refused), TEST(test_extended_ack),
		TEST(test_get),          TEST(test_foreach),
		TEST(test_del),          TEST(test_set),
		TEST(test_addrgen_none), TEST(test_addrgen_without_ipv6),
		TEST(test_mutations),    TEST(test_decode),
	};
	return cmocka_run_group_tests(tests, privnet_enter, NULL);
}
