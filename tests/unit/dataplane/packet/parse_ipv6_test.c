// SPDX-License-Identifier: Apache-2.0
#include "sample.h"
#include "sound.h"

static uint8_t frame[FRAME_MAX];

static uint32_t build_tcp(uint16_t payload)
{
	struct frame_spec spec = sample_spec(true, 6, payload);

	return frame_build(&spec, frame);
}

static void test_fields(void **state)
{
	struct frame_spec spec = sample_spec(true, 17, 10);
	struct ipaddr src, dst;
	struct pkt p;

	(void)state;
	spec.ttl = 9;
	assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p), DROP_NONE);
	assert_int_equal(ipaddr_parse(spec.src, &src), 0);
	assert_int_equal(ipaddr_parse(spec.dst, &dst), 0);
	assert_memory_equal(&p.key.src, &src, sizeof(src));
	assert_memory_equal(&p.key.dst, &dst, sizeof(dst));
	assert_int_equal(p.flags, PKT_F_IPV6 | PKT_F_L4);
	assert_int_equal(p.eth_type, 0x86dd);
	assert_int_equal(p.l4_off, 54);
	assert_int_equal(p.proto, 17);
	assert_int_equal(p.ttl, 9);
	assert_int_equal(p.key.sport, htobe16(40001));
	assert_int_equal(p.key.dport, htobe16(8080));
}

static const struct field_case {
	const char *name;
	uint32_t at, value; // 16 bits from the Ethernet header on
	enum drop_reason reason;
} field_cases[] = {
	{"version 4", 14, 0x4000, DROP_PARSE_IP_VERSION},
	{"version 7", 14, 0x7000, DROP_PARSE_IP_VERSION},
	{"traffic class and label", 14, 0x6fff, DROP_NONE},
	{"length beyond the frame", 18, 41, DROP_PARSE_IP_LENGTH},
	{"length 65535", 18, 65535, DROP_PARSE_IP_LENGTH},
	{"length 0 (jumbogram)", 18, 0, DROP_PARSE_IP_LENGTH},
	{"length inside TCP", 18, 19, DROP_PARSE_L4},
	{"length of bare TCP", 18, 20, DROP_NONE},
	{"no next header", 20, 0x3b40, DROP_NONE},
	{"unknown next header", 20, 0xff40, DROP_NONE},
	{"encrypted payload", 20, 0x3240, DROP_NONE},
	{"ICMP of the other family", 20, 0x0140, DROP_NONE},
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
		got = sample_parse(frame, len, &p);
		if (got != c->reason)
			fail_msg("%s: %s", c->name, drop_table[got].name);
		if (got == DROP_NONE)
			assert_true(sound_pkt(&p, len));
	}
}

static void test_no_payload(void **state)
{
	uint32_t len = build_tcp(20);
	struct pkt p;

	(void)state;
	sample_put16(frame + 18, 0);
	frame[20] = 59;
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(p.len, 54);
	assert_int_equal(p.l4_off, 0);
}

// Their keys would be those of IPv4 packets, and so would be the verdicts.
static void test_mapped_addresses(void **state)
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, 10, 244, 1, 10};
	struct pkt p;

	(void)state;
	for (uint32_t at = 22; at <= 38; at += 16) {
		uint32_t len = build_tcp(20);

		memcpy(frame + at, mapped, sizeof(mapped));
		assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_IP_VERSION);
		frame[at] = 0x20;
		assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	}
}

// ---- extension headers ----

// Headers of 8 bytes in wire order.
static const struct ext_case {
	const char *name;
	uint32_t count;
	uint8_t types[3];
	enum drop_reason reason;
} ext_cases[] = {
	{"hop-by-hop", 1, {0}, DROP_NONE},
	{"destination options", 1, {60}, DROP_NONE},
	{"routing type 4", 1, {43}, DROP_NONE},
	{"authentication", 1, {51}, DROP_NONE},
	{"lone fragment header", 1, {44}, DROP_NONE},
	{"several", 3, {0, 60, 43}, DROP_NONE},
	{"hop-by-hop not first", 2, {60, 0}, DROP_PARSE_EXT_HEADERS},
	{"hop-by-hop twice", 2, {0, 0}, DROP_PARSE_EXT_HEADERS},
	{"two fragment headers", 2, {44, 44}, DROP_PARSE_FRAGMENT},
	{"two fragment headers apart", 3, {44, 60, 44}, DROP_PARSE_FRAGMENT},
	{"fragment header between", 3, {60, 44, 60}, DROP_NONE},
};

static void test_extensions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ext_cases); i++) {
		const struct ext_case *c = &ext_cases[i];
		const uint32_t bare = build_tcp(20);
		uint32_t len = bare;
		struct pkt p;
		enum drop_reason got;

		for (uint32_t n = c->count; n > 0; n--)
			len = sample_add_extension(frame, len, c->types[n - 1], 8);
		got = sample_parse(frame, len, &p);
		if (got != c->reason)
			fail_msg("%s: %s", c->name, drop_table[got].name);
		if (got != DROP_NONE)
			continue;
		assert_true(sound_pkt(&p, len));
		assert_int_equal(p.l4_off, 54 + len - bare);
		assert_int_equal(p.key.proto, 6);
		assert_int_equal(p.key.dport, htobe16(8080));
		assert_int_equal(p.key.frag, 0);
	}
}

static void test_extension_count(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 64; n++) {
		uint32_t len = build_tcp(20);
		struct pkt p;

		for (uint32_t i = 0; i < n; i++)
			len = sample_add_extension(frame, len, 60, 8);
		assert_int_equal(sample_parse(frame, len, &p),
				 n <= PARSE_EXT_MAX ? DROP_NONE : DROP_PARSE_EXT_HEADERS);
	}
}

// Length fields that end at, before and behind the packet.
static void test_extension_lengths(void **state)
{
	static const uint8_t types[] = {0, 43, 51, 60};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		for (uint32_t length = 0; length < 256; length++) {
			uint32_t len = sample_add_extension(frame, build_tcp(20), types[i], 8);
			uint32_t size = types[i] == 51 ? (length + 2) * 4 : (length + 1) * 8;
			struct pkt p;
			enum drop_reason got;

			frame[55] = (uint8_t)length;
			got = sample_parse(frame, len, &p);
			if (54 + size > len)
				assert_int_equal(got, DROP_PARSE_EXT_HEADERS);
			else if (54 + size + 20 > len)
				assert_int_equal(got, DROP_PARSE_L4);
			else
				assert_true(got != DROP_NONE || sound_pkt(&p, len));
		}
	}
}

// The longest header that a packet can hold, eight times.
static void test_longest_extensions(void **state)
{
	uint32_t len = build_tcp(20);
	struct pkt p;

	(void)state;
	for (int i = 0; i < PARSE_EXT_MAX; i++)
		len = sample_add_extension(frame, len, 60, 2048);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(p.l4_off, 54 + 8 * 2048);
}

static void test_routing_type_0(void **state)
{
	uint32_t len = sample_add_extension(frame, build_tcp(20), 43, 24);
	struct pkt p;

	(void)state;
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	frame[56] = 0;
	assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_EXT_HEADERS);
}

// A chain that ends in the middle of nothing.
static void test_chain_without_end(void **state)
{
	uint32_t len = sample_add_extension(frame, build_tcp(0), 60, 8);
	struct pkt p;

	(void)state;
	frame[54] = 60;
	sample_put16(frame + 18, 8);
	assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_EXT_HEADERS);
}

// ---- fragments ----

static const struct frag_case {
	const char *name;
	uint8_t proto;
	uint16_t payload, off;
	bool more;
	enum drop_reason reason;
	uint8_t frag;
} frag_cases[] = {
	{"first", 17, 40, 0, true, DROP_NONE, 1},
	{"middle", 17, 48, 48, true, DROP_NONE, 2},
	{"last", 17, 47, 96, false, DROP_NONE, 2},
	{"alone (RFC 6946)", 17, 47, 0, false, DROP_NONE, 0},
	{"first with an odd size", 17, 41, 0, true, DROP_PARSE_FRAGMENT, 0},
	{"without payload", 17, 0, 48, false, DROP_PARSE_FRAGMENT, 0},
	{"up to 65535", 17, 47, 65488, false, DROP_NONE, 2},
	{"ends at 65536", 17, 48, 65488, false, DROP_PARSE_FRAGMENT, 0},
	{"at 8 inside TCP", 6, 40, 8, false, DROP_PARSE_FRAGMENT, 0},
	{"at 16 inside TCP", 6, 40, 16, false, DROP_PARSE_FRAGMENT, 0},
	{"at 24 behind TCP", 6, 40, 24, false, DROP_NONE, 2},
	{"first of a solicitation", 58, 16, 0, true, DROP_PARSE_ND, 0},
};

static void test_fragments(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(frag_cases); i++) {
		const struct frag_case *c = &frag_cases[i];
		struct frame_spec spec = sample_spec(true, c->proto, c->payload);
		struct pkt p;
		enum drop_reason got;
		uint32_t len;

		spec.frag = true;
		spec.frag_off = c->off;
		spec.frag_more = c->more;
		spec.sport = c->proto == 58 ? 135 << 8 : spec.sport;
		len = frame_build(&spec, frame);
		got = sample_parse(frame, len, &p);
		if (got != c->reason)
			fail_msg("%s: %s", c->name, drop_table[got].name);
		if (got != DROP_NONE)
			continue;
		assert_true(sound_pkt(&p, len));
		assert_int_equal(p.key.frag, c->frag);
		assert_int_equal(p.key.proto, c->proto);
		assert_int_equal(p.key.sport, c->frag ? 0 : htobe16(40001));
	}
}

// RFC 7112: all headers stand in the first piece.
static void test_first_fragment_holds_the_chain(void **state)
{
	struct frame_spec spec = sample_spec(true, 17, 40);
	uint32_t len;
	struct pkt p;

	(void)state;
	spec.frag = spec.frag_more = true;
	len = frame_build(&spec, frame);
	frame[54] = 60;
	frame[62] = 6;
	frame[63] = 200;
	assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_EXT_HEADERS);
	frame[63] = 4;
	assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_FRAGMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_header_fields),
		cmocka_unit_test(test_no_payload),
		cmocka_unit_test(test_mapped_addresses),
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_extension_count),
		cmocka_unit_test(test_extension_lengths),
		cmocka_unit_test(test_longest_extensions),
		cmocka_unit_test(test_routing_type_0),
		cmocka_unit_test(test_chain_without_end),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_first_fragment_holds_the_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
