// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "packet/build_parts.h"

static uint8_t frame[FRAME_MAX];

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;

	assert_int_equal(ipaddr_parse(text, &a), 0);
	return a;
}

static void test_eth(void **state)
{
	uint8_t out[14];

	(void)state;
	assert_ptr_equal(build_eth(out, &sample_pod_mac, &sample_gw_mac, 0x86dd), out + 14);
	assert_memory_equal(out, &sample_pod_mac, 6);
	assert_memory_equal(out + 6, &sample_gw_mac, 6);
	assert_int_equal(sample_get16(out + 12), 0x86dd);
}

static void test_ip(void **state)
{
	static const struct {
		const char *src, *dst;
		uint16_t type;
		uint32_t size;
	} rows[] = {{"10.244.1.1", "10.244.1.10", 0x0800, 20}, {"fe80::1", "fd00::a", 0x86dd, 40}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct build_ip ip = {
			.src = addr(rows[i].src),
			.dst = addr(rows[i].dst),
			.proto = 99,
			.ttl = 7,
			.tos = 0xc0,
			.payload = 24,
		};
		uint8_t out[128] = {0};
		struct pkt p;

		build_eth(out, &sample_pod_mac, &sample_gw_mac, rows[i].type);
		assert_ptr_equal(build_ip(out + 14, &ip), out + 14 + rows[i].size);
		assert_int_equal(sample_parse(out, 14 + rows[i].size + 24, &p), DROP_NONE);
		assert_int_equal(p.len, 14 + rows[i].size + 24);
		assert_int_equal(p.ttl, 7);
		assert_int_equal(p.proto, 99);
		assert_true(ipaddr_is_equal(&p.key.src, &ip.src));
		assert_true(ipaddr_is_equal(&p.key.dst, &ip.dst));
	}
}

static void test_tos(void **state)
{
	struct build_ip ip = {.src = addr("10.0.0.1"), .dst = addr("10.0.0.2"), .tos = 0xc0};
	uint8_t out[40];

	(void)state;
	build_ip(out, &ip);
	assert_int_equal(out[1], 0xc0);
	assert_int_equal(sample_get16(out + 6), 0x4000);
	ip.src = addr("fd00::1");
	build_ip(out, &ip);
	assert_int_equal(sample_get16(out), 0x6c00);
}

static void test_icmp_csum(void **state)
{
	(void)state;
	for (uint32_t size = 8; size < 64; size++) {
		struct build_ip ip = {.src = addr("fe80::1"),
				      .dst = addr("fd00::a"),
				      .proto = 58,
				      .payload = size};
		uint8_t l4[64];

		for (uint32_t i = 0; i < size; i++)
			l4[i] = (uint8_t)(i * 31 + size);
		build_icmp_csum(l4, &ip);
		assert_int_equal(
			sample_sum(l4, size,
				   sample_sum(ip.src.b, 16, sample_sum(ip.dst.b, 16, 58 + size))),
			0xffff);
		ip.proto = 1;
		build_icmp_csum(l4, &ip);
		assert_int_equal(sample_sum(l4, size, 0), 0xffff);
	}
}

static void test_sender(void **state)
{
	static const struct {
		const char *src;
		uint8_t mac0;
		bool ok;
	} rows[] = {
		{"10.244.1.10", 2, true},
		{"fd00::1", 2, true},
		{"fe80::2", 2, true},
		{"10.244.1.10", 3, false},
		{"10.244.1.10", 0xff, false},
		{"0.0.0.0", 2, false},
		{"0.1.2.3", 2, false},
		{"127.0.0.1", 2, false},
		{"224.0.0.1", 2, false},
		{"239.255.255.255", 2, false},
		{"255.255.255.255", 2, false},
		{"::", 2, false},
		{"::1", 2, false},
		{"ff02::1", 2, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct frame_spec spec = sample_spec(strchr(rows[i].src, ':') != NULL, 17, 8);

		struct pkt p;

		spec.src = rows[i].src;
		spec.src_mac.b[0] = rows[i].mac0;
		assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
		if (build_has_sender(&p) != rows[i].ok)
			fail_msg("%s", rows[i].src);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eth),    cmocka_unit_test(test_ip),
		cmocka_unit_test(test_tos),    cmocka_unit_test(test_icmp_csum),
		cmocka_unit_test(test_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
