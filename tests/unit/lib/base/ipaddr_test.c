// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/ipaddr.h"

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;
	if (ipaddr_parse(text, &a) != 0)
		fail_msg("cannot parse %s", text);
	return a;
}

static struct ipprefix prefix(const char *text)
{
	struct ipprefix p;
	if (ipprefix_parse(text, &p) != 0)
		fail_msg("cannot parse %s", text);
	return p;
}

static void test_addr_text(void **state)
{
	static const struct {
		const char *in, *out; // NULL: refused
	} rows[] = {
		{"10.0.0.1", "10.0.0.1"},
		{"0.0.0.0", "0.0.0.0"},
		{"255.255.255.255", "255.255.255.255"},
		{"::", "::"},
		{"::1", "::1"},
		{"FD00::A", "fd00::a"},
		{"2001:db8:0:0:0:0:0:1", "2001:db8::1"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"", NULL},
		{" 10.0.0.1", NULL},
		{"10.0.0.1 ", NULL},
		{"10.0.0", NULL},
		{"10.0.0.0.1", NULL},
		{"010.0.0.1", NULL},
		{"10.0.0.01", NULL},
		{"10.0.0.256", NULL},
		{"0x0a.0.0.1", NULL},
		{"10.1", NULL},
		{"167772161", NULL},
		{"10.0.0.1/24", NULL},
		{"fe80::1%eth0", NULL},
		{"::ffff:1.2.3.4", NULL},
		{"::FFFF:102:304", NULL},
		{"0:0:0:0:0:ffff:102:304", NULL},
		{"1::2::3", NULL},
		{":::", NULL},
		{"12345::", NULL},
		{"[::1]", NULL},
		{"host", NULL},
	};
	char text[IPADDR_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipaddr a = {{0xee}};
		int r = ipaddr_parse(rows[i].in, &a);
		if (r != (rows[i].out ? 0 : -EINVAL))
			fail_msg("%s: %d", rows[i].in, r);
		if (r == 0)
			assert_string_equal(ipaddr_format(&a, text), rows[i].out);
		else
			assert_int_equal(a.b[0], 0xee);
	}
}

static void test_prefix_text(void **state)
{
	static const struct {
		const char *in, *out; // NULL: refused
	} rows[] = {
		{"10.1.2.3/24", "10.1.2.3/24"},
		{"10.1.2.3", "10.1.2.3/32"},
		{"0.0.0.0/0", "0.0.0.0/0"},
		{"::/0", "::/0"},
		{"fd00::1", "fd00::1/128"},
		{"fd00::1/128", "fd00::1/128"},
		{"10.0.0.0/33", NULL},
		{"10.0.0.0/128", NULL},
		{"fd00::/129", NULL},
		{"fd00::/999", NULL},
		{"fd00::/1000", NULL},
		{"10.0.0.0/", NULL},
		{"10.0.0.0/08", NULL},
		{"10.0.0.0/00", NULL},
		{"10.0.0.0/+8", NULL},
		{"10.0.0.0/-1", NULL},
		{"10.0.0.0/ 8", NULL},
		{"10.0.0.0/8 ", NULL},
		{"10.0.0.0/8/8", NULL},
		{"10.0.0.0/a", NULL},
		{"/8", NULL},
		{"", NULL},
		{"::ffff:10.0.0.0/104", NULL},
		{"1111:2222:3333:4444:5555:6666:7777:8888:9999:0000/64", NULL},
	};
	char text[IPPREFIX_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipprefix p = {.len = 77};
		int r = ipprefix_parse(rows[i].in, &p);
		if (r != (rows[i].out ? 0 : -EINVAL))
			fail_msg("%s: %d", rows[i].in, r);
		if (r == 0)
			assert_string_equal(ipprefix_format(&p, text), rows[i].out);
		else
			assert_int_equal(p.len, 77);
	}
}

static void test_mac_text(void **state)
{
	static const struct {
		const char *in, *out; // NULL: refused
	} rows[] = {
		{"02:00:0A:ff:Fe:01", "02:00:0a:ff:fe:01"},
		{"00:00:00:00:00:00", "00:00:00:00:00:00"},
		{"", NULL},
		{"02:00:00:00:00", NULL},
		{"02:00:00:00:00:0", NULL},
		{"02:00:00:00:00:01:", NULL},
		{"02:00:00:00:00:01:02", NULL},
		{"02-00-00-00-00-01", NULL},
		{"0200.0000.0001xxx", NULL},
		{"02:00:00:00:00:0g", NULL},
		{"02:00:00:00:00:0 ", NULL},
		{"02:00:00:00:00:\xc1\x81", NULL},
		{" 2:00:00:00:00:01", NULL},
		{"+2:00:00:00:00:01", NULL},
		{"0x:00:00:00:00:01", NULL},
		{"020:0:00:00:00:01", NULL},
	};
	char text[MACADDR_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct macaddr m;
		int r = macaddr_parse(rows[i].in, &m);
		if (r != (rows[i].out ? 0 : -EINVAL))
			fail_msg("%s: %d", rows[i].in, r);
		if (r == 0)
			assert_string_equal(macaddr_format(&m, text), rows[i].out);
	}
}

static void test_forms(void **state)
{
	(void)state;
	struct ipaddr v4 = ipaddr_from_v4(htonl(0x0a000001)), v6 = addr("fd00::1");
	struct ipaddr same = ipaddr_from_v6(v6.b);

	assert_true(ipaddr_is_v4(&v4));
	assert_false(ipaddr_is_v4(&v6));
	assert_int_equal(ipaddr_v4(&v4), htonl(0x0a000001));
	assert_true(ipaddr_is_equal(&v6, &same));
	assert_false(ipaddr_is_equal(&v6, &v4));
	assert_int_equal(ipaddr_compare(&v6, &same), 0);
	struct ipaddr next = ipaddr_add(&v4, 1);
	assert_true(ipaddr_compare(&v4, &next) < 0);
	assert_true(ipaddr_compare(&next, &v4) > 0);
}

static void test_classes(void **state)
{
	static const struct {
		const char *text;
		bool unicast, link_local;
	} rows[] = {
		{"10.0.0.1", true, false},
		{"0.0.0.0", false, false},
		{"0.1.2.3", false, false},
		{"127.0.0.1", false, false},
		{"127.255.255.255", false, false},
		{"128.0.0.1", true, false},
		{"223.255.255.255", true, false},
		{"224.0.0.1", false, false},
		{"239.255.255.255", false, false},
		{"240.0.0.1", true, false},
		{"255.255.255.255", false, false},
		{"255.255.255.254", true, false},
		{"169.254.1.1", true, true},
		{"169.253.255.255", true, false},
		{"169.255.0.0", true, false},
		{"::", false, false},
		{"::1", false, false},
		{"::2", true, false},
		{"fe80::1", true, true},
		{"febf::1", true, true},
		{"fec0::1", true, false},
		{"fd00::1", true, false},
		{"ff02::1", false, false},
		{"ff00::", false, false},
		{"2001:db8::", true, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipaddr a = addr(rows[i].text);
		if (ipaddr_is_unicast(&a) != rows[i].unicast ||
		    ipaddr_is_link_local(&a) != rows[i].link_local)
			fail_msg("%s", rows[i].text);
	}
}

static void test_mask(void **state)
{
	static const struct {
		const char *in, *net;
		uint8_t len128;
	} rows[] = {
		{"10.255.255.255/0", "0.0.0.0", 96},
		{"10.255.255.255/1", "0.0.0.0", 97},
		{"10.255.255.255/9", "10.128.0.0", 105},
		{"10.255.255.255/31", "10.255.255.254", 127},
		{"10.255.255.255/32", "10.255.255.255", 128},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/0", "::", 0},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/7", "fe00::", 7},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/64", "ffff:ffff:ffff:ffff::", 64},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/127",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", 127},
	};
	char text[IPADDR_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipprefix p = prefix(rows[i].in);
		struct ipaddr net = ipprefix_mask(&p);
		assert_string_equal(ipaddr_format(&net, text), rows[i].net);
		assert_int_equal(ipprefix_len128(&p), rows[i].len128);
	}
	// A length that no parser lets through must not overflow.
	struct ipprefix wild = {.addr = addr("10.0.0.1"), .len = 255};
	assert_int_equal(ipprefix_len128(&wild), 128);
	struct ipaddr whole = ipprefix_mask(&wild);
	assert_true(ipaddr_is_equal(&whole, &wild.addr));
}

static void test_has(void **state)
{
	static const struct {
		const char *prefix, *addr;
		bool want;
	} rows[] = {
		{"10.244.1.0/24", "10.244.1.255", true},
		{"10.244.1.77/24", "10.244.1.1", true},
		{"10.244.1.0/24", "10.244.2.0", false},
		{"0.0.0.0/0", "255.255.255.255", true},
		{"0.0.0.0/0", "::1", false},
		{"::/0", "10.0.0.1", false},
		{"::/0", "ffff::", true},
		{"10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"fd00::/63", "fd00:0:0:1::", true},
		{"fd00::/64", "fd00:0:0:1::", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipprefix p = prefix(rows[i].prefix);
		struct ipaddr a = addr(rows[i].addr);
		if (ipprefix_has(&p, &a) != rows[i].want)
			fail_msg("%s in %s", rows[i].addr, rows[i].prefix);
	}
}

static void test_add(void **state)
{
	static const struct {
		const char *a;
		uint64_t n;
		const char *want;
	} rows[] = {
		{"10.0.0.0", 0, "10.0.0.0"},
		{"10.0.0.255", 1, "10.0.1.0"},
		{"255.255.255.255", 2, "0.0.0.1"},
		{"10.0.0.1", 1ull << 32, "10.0.0.1"},
		{"fd00::ffff", 1, "fd00::1:0"},
		{"fd00::", UINT64_MAX, "fd00::ffff:ffff:ffff:ffff"},
		{"fd00::ffff:ffff:ffff:ffff", 1, "fd00::"},
	};
	char text[IPADDR_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ipaddr a = addr(rows[i].a), sum = ipaddr_add(&a, rows[i].n);
		assert_string_equal(ipaddr_format(&sum, text), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addr_text), cmocka_unit_test(test_prefix_text),
		cmocka_unit_test(test_mac_text),  cmocka_unit_test(test_forms),
		cmocka_unit_test(test_classes),   cmocka_unit_test(test_mask),
		cmocka_unit_test(test_has),       cmocka_unit_test(test_add),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
