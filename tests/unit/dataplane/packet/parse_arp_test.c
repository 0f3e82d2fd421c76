// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

static uint8_t frame[FRAME_MAX];

#define ARP(dst, op, sha, spa, tha, tpa) dst "02000000010a0806000108000604" op sha spa tha tpa

static const struct seed {
	const char *name, *hex;
	uint16_t op;
	const char *sender, *target;
} seeds[] = {
	{"S9a: probe for the own address",
	 ARP("ffffffffffff", "0001", "02000000010a", "00000000", "000000000000", "0af4010a"), 1,
	 "0.0.0.0", "10.244.1.10"},
	{"S9b: gratuitous request",
	 ARP("ffffffffffff", "0001", "02000000010a", "0af4010a", "000000000000", "0af4010a"), 1,
	 "10.244.1.10", "10.244.1.10"},
	{"S9c: request for the gateway",
	 ARP("ffffffffffff", "0001", "02000000010a", "0af4010a", "000000000000", "0af40101"), 1,
	 "10.244.1.10", "10.244.1.1"},
	{"S9d: forged reply",
	 ARP("020000000101", "0002", "02000000010a", "0af4010b", "020000000101", "0af40101"), 2,
	 "10.244.1.11", "10.244.1.1"},
};

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;

	assert_int_equal(ipaddr_parse(text, &a), 0);
	return a;
}

static void test_seeds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		// Bare and padded to 60 bytes.
		for (uint32_t pad = 0; pad <= 18; pad += 18) {
			struct ipaddr sender = addr(seeds[i].sender);
			struct ipaddr target = addr(seeds[i].target);
			uint32_t len = frame_hex(seeds[i].hex, frame);
			struct arp_view v;
			struct pkt p;

			assert_int_equal(len, 42);
			assert_int_equal(sample_parse(frame, len + pad, &p), DROP_NONE);
			assert_int_equal(p.flags, PKT_F_ARP);
			assert_int_equal(parse_arp(&p, &v), DROP_NONE);
			assert_int_equal(v.op, seeds[i].op);
			assert_memory_equal(&v.sender_mac, &sample_pod_mac, 6);
			assert_memory_equal(&v.target_mac, frame + 32, 6);
			assert_true(ipaddr_is_equal(&v.sender, &sender));
			assert_true(ipaddr_is_equal(&v.target, &target));
		}
	}
}

static const struct broken {
	const char *name;
	uint32_t at, value; // 16 bits from the Ethernet header on
} broken[] = {
	{"hardware type 0", 14, 0},    {"hardware type 6", 14, 6},
	{"protocol IPv6", 16, 0x86dd}, {"hlen 5", 18, 0x0504},
	{"hlen 255", 18, 0xff04},      {"plen 16", 18, 0x0610},
	{"lengths 0", 18, 0},          {"op 0", 20, 0},
	{"op 3 (RARP)", 20, 3},        {"op 8 (InARP)", 20, 8},
	{"op 257", 20, 257},
};

static void test_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		uint32_t len = frame_hex(seeds[2].hex, frame);
		struct arp_view v = {.op = 99};
		struct pkt p;

		sample_put16(frame + broken[i].at, broken[i].value);
		assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
		if (parse_arp(&p, &v) != DROP_PARSE_ARP)
			fail_msg("%s was accepted", broken[i].name);
		assert_int_equal(v.op, 99);
	}
}

static void test_short(void **state)
{
	(void)state;
	for (uint32_t len = 14; len < 42; len++) {
		struct arp_view v;
		struct pkt p;

		frame_hex(seeds[2].hex, frame);
		assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
		assert_int_equal(parse_arp(&p, &v), DROP_PARSE_ARP);
	}
}

static void test_other_packets(void **state)
{
	struct frame_spec spec = sample_spec(false, 17, 40);
	struct arp_view v;
	struct pkt p;

	(void)state;
	assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
	assert_int_equal(parse_arp(&p, &v), DROP_PARSE_ARP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_other_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
