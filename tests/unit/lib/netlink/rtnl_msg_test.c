// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/msg.h>

#include "base/cleanup.h"
#include "netlink/rtnl_msg.h"

static void test_build(void **state)
{
	struct ifinfomsg ifi = {.ifi_index = 7};
	struct nlattr *tb[IFLA_MAX + 1], *inner[8];
	struct ipaddr v4 = ipaddr_from_v4(htobe32(0x0a000001)), v6 = {{0xfd, [15] = 1}}, got;
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	char text[8];

	(void)state;
	rtnl_req_init(&req, RTM_NEWLINK, NLM_F_CREATE, &ifi, sizeof(ifi));
	rtnl_put_text(&req, IFLA_IFNAME, "eth0");
	rtnl_put_u32(&req, IFLA_MTU, 1500);
	struct nlattr *nest = rtnl_nest(&req, IFLA_LINKINFO);
	rtnl_put_u8(&req, 1, 9);
	rtnl_put_addr(&req, 2, &v4);
	rtnl_put_addr(&req, 3, &v6);
	rtnl_put_raw(&req, "raw", 4);
	rtnl_nest_end(&req, nest);
	assert_false(req.failed);
	const struct nlmsghdr *h = nlmsg_hdr(req.msg);
	assert_int_equal(h->nlmsg_type, RTM_NEWLINK);
	assert_int_equal(rtnl_attrs(h, sizeof(ifi), tb, IFLA_MAX), 0);
	rtnl_attr_text(tb[IFLA_IFNAME], text, sizeof(text));
	assert_string_equal(text, "eth0");
	assert_int_equal(rtnl_attr_u32(tb[IFLA_MTU], 0), 1500);
	assert_int_equal(nla_parse_nested(inner, 7, tb[IFLA_LINKINFO], NULL), 0);
	assert_int_equal(*(uint8_t *)nla_data(inner[1]), 9);
	assert_true(rtnl_attr_addr(inner[2], AF_INET, &got) && ipaddr_is_equal(&got, &v4));
	assert_true(rtnl_attr_addr(inner[3], AF_INET6, &got) && ipaddr_is_equal(&got, &v6));
	assert_false(rtnl_attr_addr(inner[2], AF_INET6, &got));
	assert_false(rtnl_attr_addr(inner[3], AF_INET, &got));
	assert_false(rtnl_attr_addr(inner[3], AF_UNIX, &got));
	assert_false(rtnl_attr_addr(NULL, AF_INET, &got));
	assert_int_equal(rtnl_family(&v4), AF_INET);
	assert_int_equal(rtnl_family(&v6), AF_INET6);
}

// A request that outgrew its buffer stays failed, and nothing more is put into it.
static void test_too_big(void **state)
{
	struct ifinfomsg ifi = {0};
	_cleanup_(rtnl_req_fini) struct rtnl_req req;
	char *big = calloc(1, 70000);

	(void)state;
	rtnl_req_init(&req, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	struct nlattr *outer = rtnl_nest(&req, 1);
	rtnl_put(&req, 1, big, 70000);
	assert_true(req.failed);
	struct nlattr *nest = rtnl_nest(&req, 1);
	assert_null(nest);
	rtnl_nest_end(&req, nest);
	rtnl_nest_end(&req, outer);
	rtnl_put_u32(&req, 1, 1);
	rtnl_put_raw(&req, big, 4);
	assert_true(req.failed);
	free(big);
}

// An attribute of size bytes of value, each byte `fill`; exactly as long as it says.
static struct nlattr *attr(size_t size, char fill)
{
	struct nlattr *a = malloc(NLA_HDRLEN + size);

	a->nla_type = 1;
	a->nla_len = (uint16_t)(NLA_HDRLEN + size);
	memset((char *)a + NLA_HDRLEN, fill, size);
	return a;
}

static void test_attribute_sizes(void **state)
{
	struct ipaddr addr;
	char text[8];

	(void)state;
	assert_int_equal(rtnl_attr_u32(NULL, 5), 5);
	rtnl_attr_text(NULL, text, sizeof(text));
	assert_string_equal(text, "");
	for (size_t size = 0; size < 20; size++) {
		_free_ struct nlattr *a = attr(size, 'x');
		assert_int_equal(rtnl_attr_u32(a, 5), size < 4 ? 5 : 0x78787878);
		assert_int_equal(rtnl_attr_addr(a, AF_INET, &addr), size == 4);
		assert_int_equal(rtnl_attr_addr(a, AF_INET6, &addr), size == 16);
		// Without a NUL, and longer than the room for it.
		rtnl_attr_text(a, text, sizeof(text));
		assert_int_equal(strlen(text), size < 7 ? size : 7);
	}
}

static void test_heads(void **state)
{
	struct {
		struct nlmsghdr h;
		char rest[32];
	} m = {0};
	struct nlattr *tb[4];

	(void)state;
	for (unsigned len = 0; len <= sizeof(m); len++) {
		m.h.nlmsg_len = len;
		int want = len < sizeof(m.h) + 16 ? -EBADMSG : 0;
		assert_int_equal(rtnl_attrs(&m.h, 16, tb, 3), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_too_big),
		cmocka_unit_test(test_attribute_sizes),
		cmocka_unit_test(test_heads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
