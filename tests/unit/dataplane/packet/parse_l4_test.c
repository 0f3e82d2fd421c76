// SPDX-License-Identifier: Apache-2.0
#include "sample.h"
#include "sound.h"

static uint8_t frame[FRAME_MAX];

static const struct tcp_case {
	uint32_t doff, payload;
	enum drop_reason reason;
} tcp_cases[] = {
	{0, 40, DROP_PARSE_L4}, {1, 40, DROP_PARSE_L4},  {4, 40, DROP_PARSE_L4},
	{5, 0, DROP_NONE},      {5, 40, DROP_NONE},      {6, 3, DROP_PARSE_L4},
	{6, 4, DROP_NONE},      {15, 39, DROP_PARSE_L4}, {15, 40, DROP_NONE},
};

static void test_tcp_data_offset(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(tcp_cases); i++) {
		const struct tcp_case *c = &tcp_cases[i / 2];
		const bool v6 = i % 2;
		struct frame_spec spec = sample_spec(v6, 6, (uint16_t)c->payload);
		uint32_t len = frame_build(&spec, frame);
		struct pkt p;

		frame[(v6 ? 54 : 34) + 12] = (uint8_t)(c->doff << 4);
		assert_int_equal(sample_parse(frame, len, &p), c->reason);
	}
}

static const struct udp_case {
	uint32_t length, payload;
	enum drop_reason reason;
} udp_cases[] = {
	{0, 20, DROP_PARSE_L4},      {7, 20, DROP_PARSE_L4},  {8, 20, DROP_NONE},
	{28, 20, DROP_NONE},         {29, 20, DROP_PARSE_L4}, {65535, 20, DROP_PARSE_L4},
	{9000 + 8, 9000, DROP_NONE}, {8, 0, DROP_NONE},       {9, 0, DROP_PARSE_L4},
};

static void test_udp_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(udp_cases); i++) {
		const struct udp_case *c = &udp_cases[i / 2];
		const bool v6 = i % 2;
		struct frame_spec spec = sample_spec(v6, 17, (uint16_t)c->payload);
		uint32_t len = frame_build(&spec, frame);
		struct pkt p;

		sample_put16(frame + (v6 ? 54 : 34) + 4, c->length);
		assert_int_equal(sample_parse(frame, len, &p), c->reason);
	}
}

// The first piece of a long datagram names the length of the whole.
static void test_udp_length_in_fragment(void **state)
{
	struct frame_spec spec = sample_spec(false, 17, 40);
	struct pkt p;
	uint32_t len;

	(void)state;
	spec.frag_more = true;
	len = frame_build(&spec, frame);
	sample_put16(frame + 38, 4000);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	sample_put16(frame + 38, 7);
	assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_L4);
}

static const struct icmp_case {
	bool v6;
	uint8_t type, code;
	uint16_t sport, dport; // as read from the packet
	uint32_t flags;
} icmp_cases[] = {
	{false, 8, 0, 0x1234, 0, 0},         {false, 0, 0, 0x1234, 0, 0},
	{false, 8, 1, 0, 0x0801, 0},         {false, 3, 4, 0, 0x0304, 0},
	{false, 11, 0, 0, 0x0b00, 0},        {false, 128, 0, 0, 0x8000, 0},
	{false, 135, 0, 0, 0x8700, 0},       {true, 128, 0, 0x1234, 0, 0},
	{true, 129, 0, 0x1234, 0, 0},        {true, 129, 9, 0, 0x8109, 0},
	{true, 8, 0, 0, 0x0800, 0},          {true, 2, 0, 0, 0x0200, 0},
	{true, 132, 0, 0, 0x8400, 0},        {true, 133, 0, 0, 0x8500, PKT_F_ND},
	{true, 134, 0, 0, 0x8600, PKT_F_ND}, {true, 135, 0, 0, 0x8700, PKT_F_ND},
	{true, 136, 0, 0, 0x8800, PKT_F_ND}, {true, 137, 0, 0, 0x8900, PKT_F_ND},
	{true, 138, 0, 0, 0x8a00, 0},
};

static void test_icmp_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(icmp_cases); i++) {
		const struct icmp_case *c = &icmp_cases[i];
		struct frame_spec spec = sample_spec(c->v6, c->v6 ? 58 : 1, 30);
		struct pkt p;

		spec.sport = (uint16_t)(c->type << 8 | c->code);
		spec.dport = 0x1234;
		assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
		assert_int_equal(p.key.sport, htobe16(c->sport));
		assert_int_equal(p.key.dport, htobe16(c->dport));
		assert_int_equal(p.flags & PKT_F_ND, c->flags);
		assert_true(p.flags & PKT_F_L4);
	}
}

// ICMP of the other family is a protocol like any unknown one.
static void test_icmp_of_other_family(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct frame_spec spec = sample_spec(v6, v6 ? 1 : 58, 30);
		struct pkt p;

		spec.sport = 135 << 8;
		assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
		assert_int_equal(p.flags, v6 ? PKT_F_IPV6 : PKT_F_IPV4);
		assert_int_equal(p.key.sport, 0);
		assert_int_equal(p.key.dport, 0);
	}
}

static void test_sctp_and_portless(void **state)
{
	static const uint8_t portless[] = {0, 2, 4, 41, 47, 50, 59, 103, 136, 255};
	struct frame_spec spec = sample_spec(false, 132, 40);
	struct pkt p;

	(void)state;
	assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
	assert_int_equal(p.l4_off, 34);
	assert_int_equal(p.key.sport, htobe16(0x0001));
	assert_int_equal(p.key.dport, htobe16(0x0203));
	for (size_t i = 0; i < ARRAY_LEN(portless); i++) {
		spec.proto = portless[i];
		assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
		assert_int_equal(p.l4_off, 0);
		assert_int_equal(p.flags, PKT_F_IPV4);
		assert_int_equal(p.key.proto, portless[i]);
		assert_int_equal(p.key.sport, 0);
		assert_int_equal(p.key.dport, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp_data_offset),
		cmocka_unit_test(test_udp_length),
		cmocka_unit_test(test_udp_length_in_fragment),
		cmocka_unit_test(test_icmp_keys),
		cmocka_unit_test(test_icmp_of_other_family),
		cmocka_unit_test(test_sctp_and_portless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
