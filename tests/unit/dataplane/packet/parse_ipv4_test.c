// SPDX-License-Identifier: Apache-2.0
#include "sample.h"
#include "sound.h"

static uint8_t frame[FRAME_MAX];

static uint32_t build_tcp(uint16_t payload)
{
	struct frame_spec spec = sample_spec(false, 6, payload);

	return frame_build(&spec, frame);
}

static void test_fields(void **state)
{
	struct frame_spec spec = sample_spec(false, 17, 10);
	struct ipaddr src, dst;
	struct pkt p;

	(void)state;
	spec.ttl = 9;
	assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
	assert_int_equal(ipaddr_parse(spec.src, &src), 0);
	assert_int_equal(ipaddr_parse(spec.dst, &dst), 0);
	assert_memory_equal(&p.key.src, &src, sizeof(src));
	assert_memory_equal(&p.key.dst, &dst, sizeof(dst));
	assert_int_equal(p.flags, PKT_F_IPV4 | PKT_F_L4);
	assert_int_equal(p.eth_type, 0x0800);
	assert_int_equal(p.l3_off, 14);
	assert_int_equal(p.l4_off, 34);
	assert_int_equal(p.proto, 17);
	assert_int_equal(p.ttl, 9);
	assert_int_equal(p.key.sport, htobe16(40001));
	assert_int_equal(p.key.dport, htobe16(8080));
	assert_int_equal(p.key.in_port, SAMPLE_PORT);
}

// One field of a good header replaced. fix: make the checksum right again.
static const struct field_case {
	const char *name;
	uint32_t at, value; // 16 bits from the Ethernet header on
	bool fix;
	enum drop_reason reason;
} field_cases[] = {
	{"version 6", 14, 0x6500, true, DROP_PARSE_IP_VERSION},
	{"version 0", 14, 0x0500, true, DROP_PARSE_IP_VERSION},
	{"header of 16 bytes", 14, 0x4400, true, DROP_PARSE_IP_LENGTH},
	{"header of 0 bytes", 14, 0x4000, false, DROP_PARSE_IP_LENGTH},
	{"total length 0 (BIG TCP)", 16, 0, true, DROP_PARSE_IP_LENGTH},
	{"total length below the header", 16, 19, true, DROP_PARSE_IP_LENGTH},
	{"total length of the bare header", 16, 20, true, DROP_PARSE_L4},
	{"total length beyond the frame", 16, 61, true, DROP_PARSE_IP_LENGTH},
	{"total length 65535", 16, 65535, true, DROP_PARSE_IP_LENGTH},
	{"wrong checksum", 24, 0x1234, false, DROP_PARSE_IP_CSUM},
	{"checksum missing", 24, 0, false, DROP_PARSE_IP_CSUM},
	{"other protocol, sum not adapted", 22, 0x4011, false, DROP_PARSE_IP_CSUM},
	{"do not fragment", 20, 0x4000, true, DROP_NONE},
	{"reserved bit", 20, 0x8000, true, DROP_NONE},
	{"identification", 18, 0xffff, true, DROP_NONE},
	{"TTL 0", 22, 0x0006, true, DROP_NONE},
};

static void test_header_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(field_cases); i++) {
		const struct field_case *c = &field_cases[i];
		uint32_t len = build_tcp(20);
		struct pkt p;
		enum drop_reason got;

		sample_put16(frame + c->at, c->value);
		if (c->fix)
			sample_fix_ipv4(frame);
		got = sample_parse(frame, len, &p);
		if (got != c->reason)
			fail_msg("%s: %s", c->name, drop_table[got].name);
	}
}

static const struct option_case {
	const char *name;
	uint8_t size, bytes[40];
	enum drop_reason reason;
} option_cases[] = {
	{"end only", 4, {0, 0, 0, 0}, DROP_NONE},
	{"no-operations", 8, {1, 1, 1, 1, 1, 1, 1, 1}, DROP_NONE},
	{"router alert", 4, {148, 4, 0, 0}, DROP_NONE},
	{"record route", 8, {7, 7, 4, 0, 0, 0, 0, 0}, DROP_NONE},
	{"loose source route", 8, {131, 7, 4, 10, 0, 0, 1, 0}, DROP_PARSE_IP_OPTIONS},
	{"strict source route", 8, {137, 7, 4, 10, 0, 0, 1, 0}, DROP_PARSE_IP_OPTIONS},
	{"source route behind others",
	 12,
	 {1, 148, 4, 0, 0, 131, 7, 4, 9, 9, 9, 9},
	 DROP_PARSE_IP_OPTIONS},
	{"source route behind the end", 8, {0, 131, 7, 4, 10, 0, 0, 1}, DROP_NONE},
	{"length 0", 4, {148, 0, 0, 0}, DROP_PARSE_IP_OPTIONS},
	{"length 1", 4, {148, 1, 0, 0}, DROP_PARSE_IP_OPTIONS},
	{"length 255", 4, {148, 255, 0, 0}, DROP_PARSE_IP_OPTIONS},
	{"one byte too long", 4, {1, 148, 4, 0}, DROP_PARSE_IP_OPTIONS},
	{"no room for a length", 4, {1, 1, 1, 148}, DROP_PARSE_IP_OPTIONS},
	{"source route without a length", 4, {1, 1, 1, 131}, DROP_PARSE_IP_OPTIONS},
};

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(option_cases); i++) {
		const struct option_case *c = &option_cases[i];
		uint32_t len = sample_add_options(frame, build_tcp(20), c->bytes, c->size);
		struct pkt p;
		enum drop_reason got = sample_parse(frame, len, &p);

		if (got != c->reason)
			fail_msg("%s: %s", c->name, drop_table[got].name);
		if (got == DROP_NONE)
			assert_int_equal(p.l4_off, 34 + c->size);
	}
}

// Every number of options up to what a header can hold.
static void test_chained_options(void **state)
{
	uint8_t options[40];

	(void)state;
	memset(options, 1, sizeof(options));
	for (uint32_t size = 4; size <= 40; size += 4) {
		uint32_t len = sample_add_options(frame, build_tcp(20), options, size);
		struct pkt p;

		assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
		assert_int_equal(p.l4_off, 34 + size);
	}
}

static const struct frag_case {
	const char *name;
	uint8_t proto;
	uint16_t payload, off; // off: bytes
	bool more;
	enum drop_reason reason;
	uint8_t frag;
} frag_cases[] = {
	{"first", 17, 40, 0, true, DROP_NONE, 1},
	{"middle", 17, 48, 48, true, DROP_NONE, 2},
	{"last", 17, 47, 96, false, DROP_NONE, 2},
	{"whole", 17, 47, 0, false, DROP_NONE, 0},
	{"first with an odd size", 17, 41, 0, true, DROP_PARSE_FRAGMENT, 0},
	{"later one without payload", 17, 0, 48, false, DROP_PARSE_FRAGMENT, 0},
	{"up to 65535", 17, 39, 65472, false, DROP_NONE, 2},
	{"ends at 65536", 17, 44, 65472, false, DROP_PARSE_FRAGMENT, 0},
	{"farthest offset", 17, 8, 65528, false, DROP_PARSE_FRAGMENT, 0},
	{"at 8 inside TCP (RFC 3128)", 6, 40, 8, false, DROP_PARSE_FRAGMENT, 0},
	{"at 16 inside TCP", 6, 40, 16, true, DROP_PARSE_FRAGMENT, 0},
	{"at 24 behind TCP", 6, 40, 24, false, DROP_NONE, 2},
	{"at 8 behind UDP", 17, 40, 8, false, DROP_NONE, 2},
	{"at 8 inside SCTP", 132, 40, 8, false, DROP_PARSE_FRAGMENT, 0},
	{"at 8 of an unknown protocol", 99, 40, 8, false, DROP_NONE, 2},
};

static void test_fragments(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(frag_cases); i++) {
		const struct frag_case *c = &frag_cases[i];
		struct frame_spec spec = sample_spec(false, c->proto, c->payload);
		struct pkt p;
		enum drop_reason got;
		uint32_t len;

		spec.frag_off = c->off;
		spec.frag_more = c->more;
		len = frame_build(&spec, frame);
		got = sample_parse(frame, len, &p);
		if (got != c->reason)
			fail_msg("%s: %s", c->name, drop_table[got].name);
		if (got != DROP_NONE)
			continue;
		assert_true(sound_pkt(&p, len));
		assert_int_equal(p.key.frag, c->frag);
		assert_int_equal(p.key.sport, c->frag ? 0 : htobe16(40001));
	}
}

// S3: both pieces of one datagram have the same key but for which piece they are.
static void test_seed_fragments(void **state)
{
	struct pkt a, b;
	uint32_t len = frame_hex(
		"02000000000b02000000000108004500002c3a0120004011ea87c63364070af4010a14e92328"
		"003013b3000102030405060708090a0b0c0d0e0f",
		frame);

	(void)state;
	assert_int_equal(sample_parse(frame, len, &a), DROP_NONE);
	assert_int_equal(a.l4_off, 34);
	len = frame_hex("02000000000b02000000000108004500002c3a01000340110a85c63364070af4010a101112"
			"131415161718191a1b1c1d1e1f2021222324252627",
			frame);
	assert_int_equal(sample_parse(frame, len, &b), DROP_NONE);
	assert_int_equal(b.l4_off, 0);
	assert_int_equal(a.key.frag, 1);
	assert_int_equal(b.key.frag, 2);
	a.key.frag = b.key.frag;
	assert_true(key_is_equal(&a.key, &b.key));
}

// RFC 1858: a first piece that ends inside the L4 header, options of TCP included.
static void test_tiny_first_fragment(void **state)
{
	static const struct {
		uint8_t proto, doff;
		uint16_t l4_len;
		enum drop_reason reason;
	} rows[] = {
		{6, 5, 8, DROP_PARSE_FRAGMENT},
		{6, 5, 16, DROP_PARSE_FRAGMENT},
		{6, 5, 24, DROP_NONE},
		{6, 7, 24, DROP_PARSE_FRAGMENT},
		{6, 6, 24, DROP_NONE},
		{6, 15, 56, DROP_PARSE_FRAGMENT},
		{6, 15, 64, DROP_NONE},
		{6, 4, 24, DROP_PARSE_L4},
		{17, 0, 8, DROP_NONE},
		{1, 0, 8, DROP_NONE},
		{132, 0, 8, DROP_PARSE_FRAGMENT},
		{132, 0, 16, DROP_NONE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct frame_spec spec = sample_spec(false, rows[i].proto, 80);
		struct pkt p;

		spec.frag_more = true;
		frame_build(&spec, frame);
		if (rows[i].proto == 6)
			frame[46] = (uint8_t)(rows[i].doff << 4);
		sample_put16(frame + 16, 20u + rows[i].l4_len);
		sample_fix_ipv4(frame);
		assert_int_equal(sample_parse(frame, 34u + rows[i].l4_len, &p), rows[i].reason);
	}
}

// A GSO frame is described whole by its IP length.
static void test_largest_frame(void **state)
{
	uint32_t len = build_tcp(65535 - 40);
	struct pkt p;

	(void)state;
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(p.len, 65535 + 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_header_fields),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_chained_options),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_seed_fragments),
		cmocka_unit_test(test_tiny_first_fragment),
		cmocka_unit_test(test_largest_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
