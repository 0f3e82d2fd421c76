// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "packet/build.h"

static uint8_t frame[FRAME_MAX];

static uint32_t arp_answer(const char *sender, const char *target, uint16_t op, uint8_t *out)
{
	uint32_t len = frame_arp(op, &sample_pod_mac, &sample_pod_mac, sender, target, frame);
	struct arp_view v;
	struct pkt p;

	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(parse_arp(&p, &v), DROP_NONE);
	return build_arp_reply(&v, &sample_gw_mac, out);
}

static void test_arp_reply(void **state)
{
	uint8_t out[BUILD_FRAME_MAX], want[64];

	(void)state;
	assert_int_equal(arp_answer("10.244.1.10", "10.244.1.1", 1, out), 42);
	frame_hex("02000000010a"
		  "020000000101"
		  "0806"
		  "0001080006040002"
		  "020000000101"
		  "0af40101"
		  "02000000010a"
		  "0af4010a",
		  want);
	assert_memory_equal(out, want, 42);
}

static void test_arp_silence(void **state)
{
	static const struct {
		const char *sender, *target;
		uint16_t op;
	} rows[] = {
		{"10.244.1.10", "10.244.1.1", 2},      // not asked
		{"0.0.0.0", "10.244.1.10", 1},         // S9a: the host's own probe
		{"255.255.255.255", "10.244.1.1", 1},  // no host
		{"224.0.0.1", "10.244.1.1", 1},        // no host
		{"10.244.1.10", "255.255.255.255", 1}, // nobody's address
		{"10.244.1.10", "0.0.0.0", 1},         // nobody's address
	};
	uint8_t out[BUILD_FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(arp_answer(rows[i].sender, rows[i].target, rows[i].op, out), 0);
}

static void test_arp_to_group_mac(void **state)
{
	struct arp_view v = {.op = 1};
	uint8_t out[BUILD_FRAME_MAX];

	(void)state;
	assert_int_equal(ipaddr_parse("10.0.0.1", &v.sender), 0);
	assert_int_equal(ipaddr_parse("10.0.0.2", &v.target), 0);
	assert_int_equal(build_arp_reply(&v, &sample_gw_mac, out), 42);
	v.sender_mac.b[0] = 1;
	assert_int_equal(build_arp_reply(&v, &sample_gw_mac, out), 0);
}

static void test_nd_advert(void **state)
{
	uint8_t out[BUILD_FRAME_MAX];
	struct nd_view ns, na;
	struct pkt p, q;
	uint32_t len;

	(void)state;
	len = frame_nd(135, &sample_pod_mac, "fd00:10:1::a", "fe80::1", &sample_pod_mac, frame);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(parse_nd(&p, &ns), DROP_NONE);
	len = build_nd_advert(&p, &ns, &sample_gw_mac, out);
	assert_int_equal(len, 86);
	assert_true(frame_sums_ok(out, len));
	assert_memory_equal(out, &sample_pod_mac, 6);
	assert_memory_equal(out + 6, &sample_gw_mac, 6);
	assert_int_equal(sample_parse(out, len, &q), DROP_NONE);
	assert_int_equal(parse_nd(&q, &na), DROP_NONE);
	assert_int_equal(na.type, 136);
	assert_int_equal(out[58], 0xe0); // router, solicited, override
	assert_true(ipaddr_is_equal(&na.target, &ns.target));
	assert_true(ipaddr_is_equal(&q.key.src, &ns.target));
	assert_true(na.has_link_addr);
	assert_memory_equal(&na.link_addr, &sample_gw_mac, 6);
}

// The answer goes to the address that the solicitation names, else to the frame's sender.
static void test_nd_link_address(void **state)
{
	static const struct macaddr other = {{2, 9, 9, 9, 9, 9}}, group = {{3, 9, 9, 9, 9, 9}};
	uint8_t out[BUILD_FRAME_MAX];
	struct nd_view ns;
	struct pkt p;
	uint32_t len;

	(void)state;
	len = frame_nd(135, &sample_pod_mac, "fd00:10:1::a", "fe80::1", &other, frame);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(parse_nd(&p, &ns), DROP_NONE);
	assert_int_equal(build_nd_advert(&p, &ns, &sample_gw_mac, out), 86);
	assert_memory_equal(out, &other, 6);
	ns.has_link_addr = false;
	assert_int_equal(build_nd_advert(&p, &ns, &sample_gw_mac, out), 86);
	assert_memory_equal(out, &sample_pod_mac, 6);
	ns.has_link_addr = true;
	ns.link_addr = group;
	assert_int_equal(build_nd_advert(&p, &ns, &sample_gw_mac, out), 86);
	assert_memory_equal(out, &sample_pod_mac, 6);
}

static void test_nd_silence(void **state)
{
	uint8_t out[BUILD_FRAME_MAX];
	struct nd_view v;
	struct pkt p;
	uint32_t len;

	(void)state;
	len = frame_nd(136, &sample_pod_mac, "fd00:10:1::a", "fe80::1", &sample_pod_mac, frame);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(parse_nd(&p, &v), DROP_NONE);
	assert_int_equal(build_nd_advert(&p, &v, &sample_gw_mac, out), 0);
	v.type = 135;
	assert_int_equal(build_nd_advert(&p, &v, &sample_gw_mac, out), 86);
	// A probe: its sender has no address yet.
	memset(&p.key.src, 0, sizeof(p.key.src));
	assert_int_equal(build_nd_advert(&p, &v, &sample_gw_mac, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp_reply),        cmocka_unit_test(test_arp_silence),
		cmocka_unit_test(test_arp_to_group_mac), cmocka_unit_test(test_nd_advert),
		cmocka_unit_test(test_nd_link_address),  cmocka_unit_test(test_nd_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
