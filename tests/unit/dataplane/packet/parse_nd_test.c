// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#define ND_AT 54
#define OPTIONS_AT 78

static uint8_t frame[FRAME_MAX];

static void fix_sum(uint32_t len)
{
	sample_put16(frame + ND_AT + 2, 0);
	sample_put16(frame + ND_AT + 2, ~sample_sum(frame + ND_AT, len - ND_AT,
						    sample_sum(frame + 22, 32, 58 + len - ND_AT)));
}

// A message with the given options behind its fixed part.
static uint32_t build(uint8_t type, const uint8_t *options, uint32_t size)
{
	frame_nd(type, &sample_pod_mac, "fd00:10:1::a", "fe80::1", &sample_pod_mac, frame);
	if (size > 0)
		memcpy(frame + OPTIONS_AT, options, size);
	sample_put16(frame + 18, 24 + size);
	fix_sum(OPTIONS_AT + size);
	return OPTIONS_AT + size;
}

static enum drop_reason parse(uint32_t len, struct nd_view *v)
{
	struct pkt p;

	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	return parse_nd(&p, v);
}

static void test_solicitation_and_advertisement(void **state)
{
	struct ipaddr target;

	(void)state;
	assert_int_equal(ipaddr_parse("fe80::1", &target), 0);
	for (int type = 135; type <= 136; type++) {
		struct nd_view v;
		uint32_t len = frame_nd((uint8_t)type, &sample_pod_mac, "fd00:10:1::a", "fe80::1",
					&sample_pod_mac, frame);

		assert_int_equal(parse(len, &v), DROP_NONE);
		assert_int_equal(v.type, type);
		assert_true(ipaddr_is_equal(&v.target, &target));
		assert_true(v.has_link_addr);
		assert_memory_equal(&v.link_addr, &sample_pod_mac, 6);
		assert_int_equal(parse(build((uint8_t)type, NULL, 0), &v), DROP_NONE);
		assert_false(v.has_link_addr);
	}
}

// Only the type is told of the others, but they must be real as well.
static void test_other_types(void **state)
{
	static const uint8_t types[] = {133, 134, 137};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct nd_view v;

		assert_int_equal(parse(build(types[i], NULL, 0), &v), DROP_NONE);
		assert_int_equal(v.type, types[i]);
		assert_false(v.has_link_addr);
		frame[21] = 254;
		assert_int_equal(parse(OPTIONS_AT, &v), DROP_PARSE_ND);
	}
}

static const struct field_case {
	const char *name;
	uint32_t at, value; // bytes of the frame
	bool fix;           // make the checksum right again
	enum drop_reason reason;
} field_cases[] = {
	{"hop limit 254", 21, 254, true, DROP_PARSE_ND},
	{"hop limit 0", 21, 0, true, DROP_PARSE_ND},
	{"code 1", ND_AT + 1, 1, true, DROP_PARSE_ND},
	{"wrong checksum", ND_AT + 2, 0x77, false, DROP_PARSE_ND},
	{"reserved bits", ND_AT + 4, 0x1f, true, DROP_NONE},
	{"multicast target", ND_AT + 8, 0xff, true, DROP_PARSE_ND},
	{"other target", ND_AT + 9, 0x81, true, DROP_NONE},
};

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(field_cases); i++) {
		const struct field_case *c = &field_cases[i];
		uint32_t len = frame_nd(135, &sample_pod_mac, "fd00:10:1::a", "fe80::1",
					&sample_pod_mac, frame);
		struct nd_view v = {.type = 99};

		frame[c->at] = (uint8_t)c->value;
		if (c->fix)
			fix_sum(len);
		if (parse(len, &v) != c->reason)
			fail_msg("%s", c->name);
		assert_int_equal(v.type, c->reason == DROP_NONE ? 135 : 99);
	}
}

// As an IPv4 address it would be answered by an IPv4 frame.
static void test_mapped_target(void **state)
{
	struct nd_view v;

	(void)state;
	build(135, NULL, 0);
	memset(frame + ND_AT + 8, 0, 10);
	memset(frame + ND_AT + 18, 0xff, 2);
	fix_sum(OPTIONS_AT);
	assert_int_equal(parse(OPTIONS_AT, &v), DROP_PARSE_ND);
}

// RFC 4861 7.1.1: a probe has no source, and so no source link-layer address.
static void test_probe(void **state)
{
	static const uint8_t option[8] = {1, 1, 2, 0, 0, 0, 1, 10};
	struct nd_view v;

	(void)state;
	build(135, NULL, 0);
	memset(frame + 22, 0, 16);
	fix_sum(OPTIONS_AT);
	assert_int_equal(parse(OPTIONS_AT, &v), DROP_NONE);
	// To one station there is no probe.
	frame[38] = 0xfd;
	fix_sum(OPTIONS_AT);
	assert_int_equal(parse(OPTIONS_AT, &v), DROP_PARSE_ND);
	build(135, option, 8);
	memset(frame + 22, 0, 16);
	fix_sum(OPTIONS_AT + 8);
	assert_int_equal(parse(OPTIONS_AT + 8, &v), DROP_PARSE_ND);
}

// RFC 4861 7.1.2: nobody solicits for a group.
static void test_solicited_to_group(void **state)
{
	struct nd_view v;

	(void)state;
	build(136, NULL, 0);
	frame[ND_AT + 4] = 0x40;
	fix_sum(OPTIONS_AT);
	assert_int_equal(parse(OPTIONS_AT, &v), DROP_PARSE_ND);
	frame[38] = 0xfd;
	fix_sum(OPTIONS_AT);
	assert_int_equal(parse(OPTIONS_AT, &v), DROP_NONE);
}

static const struct option_case {
	const char *name;
	uint32_t size;
	uint8_t bytes[32];
	enum drop_reason reason;
	bool has_link_addr;
} option_cases[] = {
	{"length 0", 8, {1, 0}, DROP_PARSE_ND, false},
	{"length 0 behind a good one", 16, {1, 1, 2, 0, 0, 0, 1, 10, 5, 0}, DROP_PARSE_ND, false},
	{"length 255", 8, {1, 255}, DROP_PARSE_ND, false},
	{"one unit too long", 8, {14, 2}, DROP_PARSE_ND, false},
	{"link address of two units", 16, {1, 2, 2}, DROP_PARSE_ND, false},
	{"half an option", 4, {1, 1, 2, 0}, DROP_PARSE_ND, false},
	{"one byte", 1, {1}, DROP_PARSE_ND, false},
	{"address of the target", 8, {2, 1, 2, 0, 0, 0, 1, 10}, DROP_NONE, false},
	{"nonce and address",
	 16,
	 {14, 1, 9, 9, 9, 9, 9, 9, 1, 1, 2, 0, 0, 0, 1, 10},
	 DROP_NONE,
	 true},
	{"the address twice",
	 16,
	 {1, 1, 2, 0, 0, 0, 1, 10, 1, 1, 2, 0, 0, 0, 1, 10},
	 DROP_PARSE_ND,
	 false},
	{"two addresses",
	 16,
	 {1, 1, 2, 0, 0, 0, 1, 10, 1, 1, 2, 0, 0, 0, 1, 11},
	 DROP_PARSE_ND,
	 false},
};

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(option_cases); i++) {
		const struct option_case *c = &option_cases[i];
		struct nd_view v;

		if (parse(build(135, c->bytes, c->size), &v) != c->reason)
			fail_msg("%s", c->name);
		if (c->reason == DROP_NONE)
			assert_int_equal(v.has_link_addr, c->has_link_addr);
	}
}

// Every length that one option can claim, in a message that holds 64 of the smallest.
static void test_option_lengths(void **state)
{
	uint8_t options[512] = {0};

	(void)state;
	for (uint32_t i = 0; i < sizeof(options); i += 8) {
		options[i] = 14;
		options[i + 1] = 1;
	}
	for (uint32_t length = 0; length < 256; length++) {
		struct nd_view v;
		enum drop_reason want = length == 0 || length > 64 ? DROP_PARSE_ND : DROP_NONE;

		options[1] = (uint8_t)length;
		assert_int_equal(parse(build(135, options, sizeof(options)), &v), want);
	}
}

// As many options as a packet can hold, good and repeated.
static void test_thousands_of_options(void **state)
{
	static uint8_t options[8 * 1024];
	struct nd_view v;

	(void)state;
	for (uint32_t i = 0; i < sizeof(options); i += 8) {
		options[i] = 14;
		options[i + 1] = 1;
	}
	assert_int_equal(parse(build(135, options, sizeof(options)), &v), DROP_NONE);
	for (uint32_t i = 0; i < sizeof(options); i += 8)
		options[i] = 1;
	assert_int_equal(parse(build(135, options, sizeof(options)), &v), DROP_PARSE_ND);
}

static void test_short(void **state)
{
	(void)state;
	for (uint32_t size = 8; size < 24; size++) {
		struct nd_view v;

		build(135, NULL, 0);
		sample_put16(frame + 18, size);
		fix_sum(ND_AT + size);
		assert_int_equal(parse(ND_AT + size, &v), DROP_PARSE_ND);
	}
}

static void test_other_packets(void **state)
{
	struct frame_spec spec = sample_spec(true, 58, 40);
	struct nd_view v;

	(void)state;
	assert_int_equal(parse(frame_build(&spec, frame), &v), DROP_PARSE_ND);
	spec = sample_spec(false, 17, 40);
	assert_int_equal(parse(frame_build(&spec, frame), &v), DROP_PARSE_ND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_solicitation_and_advertisement),
		cmocka_unit_test(test_other_types),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_mapped_target),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_solicited_to_group),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_option_lengths),
		cmocka_unit_test(test_thousands_of_options),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_other_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
