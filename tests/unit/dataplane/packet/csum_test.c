// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "packet/csum.h"

static uint8_t frame[FRAME_MAX];

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fill(uint8_t *at, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		at[i] = (uint8_t)(random64() >> 32);
}

static uint16_t reference(const uint8_t *at, uint32_t size, uint32_t start)
{
	return htobe16((uint16_t)~sample_sum(at, size, start));
}

static void test_partial_on_every_size(void **state)
{
	static uint8_t data[70000];

	(void)state;
	fill(data, sizeof(data));
	for (uint32_t size = 0; size < 400; size++) {
		for (uint32_t at = 0; at < 9; at++)
			assert_int_equal(csum_finish(csum_partial(data + at, size, 0)),
					 reference(data + at, size, 0));
	}
	for (uint32_t size = 1000; size < 69000; size += 4999)
		assert_int_equal(csum_finish(csum_partial(data + 1, size, 0)),
				 reference(data + 1, size, 0));
}

static void test_partial_carries(void **state)
{
	static uint8_t data[66000];

	(void)state;
	memset(data, 0xff, sizeof(data));
	for (uint32_t size = 0; size < 200; size++)
		assert_int_equal(csum_finish(csum_partial(data, size, 0xffffffff)),
				 reference(data, size, 0xffff));
	assert_int_equal(csum_finish(csum_partial(data, 65535, 0)), reference(data, 65535, 0));
}

static void test_partial_in_two_pieces(void **state)
{
	uint8_t data[256];

	(void)state;
	fill(data, sizeof(data));
	for (uint32_t cut = 0; cut <= sizeof(data); cut += 2) {
		uint32_t sum = csum_partial(data, cut, 0);

		sum = csum_partial(data + cut, sizeof(data) - cut, sum);
		assert_int_equal(csum_finish(sum), reference(data, sizeof(data), 0));
	}
}

static void test_ipv4_header(void **state)
{
	uint8_t h[60];

	(void)state;
	for (int round = 0; round < 1000; round++) {
		uint32_t size = 20 + (uint32_t)(random64() % 11) * 4;
		uint16_t field;

		fill(h, size);
		field = csum_ipv4(h, size);
		memcpy(h + 10, &field, 2);
		assert_int_equal(sample_sum(h, size, 0), 0xffff);
		assert_int_equal(csum_ipv4(h, size), field);
	}
}

static void test_update16(void **state)
{
	uint8_t h[20];

	(void)state;
	for (int round = 0; round < 100000; round++) {
		uint16_t field, old_word, new_word = (uint16_t)random64();

		fill(h, sizeof(h));
		if (round % 3 == 0)
			new_word = round % 2 ? 0 : 0xffff;
		memcpy(&old_word, h + 4, 2);
		field = csum_ipv4(h, sizeof(h));
		field = csum_update16(field, old_word, new_word);
		memcpy(h + 4, &new_word, 2);
		memcpy(h + 10, &field, 2);
		assert_int_equal(sample_sum(h, sizeof(h), 0), 0xffff);
	}
}

static void test_dec_ttl(void **state)
{
	uint8_t h[40], full[20];

	(void)state;
	for (int round = 0; round < 100000; round++) {
		uint16_t field;

		fill(h, 20);
		h[0] = 0x45;
		if (h[8] == 0)
			h[8] = 1;
		field = csum_ipv4(h, 20);
		memcpy(h + 10, &field, 2);
		memcpy(full, h, 20);
		full[8]--;
		field = csum_ipv4(full, 20);
		memcpy(full + 10, &field, 2);
		csum_dec_ttl(h, true);
		assert_memory_equal(h, full, 20);
	}
	fill(h, 40);
	h[7] = 64;
	csum_dec_ttl(h, false);
	assert_int_equal(h[7], 63);
}

static void test_l4_of_built_frames(void **state)
{
	static const struct {
		bool v6;
		uint8_t proto;
		uint32_t at;
	} rows[] = {{false, 6, 16}, {false, 17, 6}, {false, 1, 2},
		    {true, 6, 16},  {true, 17, 6},  {true, 58, 2}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (uint16_t payload = 0; payload < 100; payload++) {
			struct frame_spec spec = sample_spec(rows[i].v6, rows[i].proto, payload);
			struct pkt p;
			uint16_t field;

			assert_int_equal(sample_parse(frame, frame_build(&spec, frame), &p),
					 DROP_NONE);
			memcpy(&field, p.data + p.l4_off + rows[i].at, 2);
			assert_int_equal(csum_l4(&p), field);
			// What stands in the field does not matter.
			memset(p.data + p.l4_off + rows[i].at, 0xa5, 2);
			assert_int_equal(csum_l4(&p), field);
		}
	}
}

// RFC 768: a datagram may be shorter than its packet, and a sum of zero is written as ones.
static void test_l4_of_udp(void **state)
{
	struct frame_spec spec = sample_spec(false, 17, 10);
	struct pkt p;
	uint32_t sum;
	uint16_t field;

	(void)state;
	frame_build(&spec, frame);
	sample_put16(frame + 38, 12);
	assert_int_equal(sample_parse(frame, 52, &p), DROP_NONE);
	sample_put16(p.data + 40, 0);
	sum = sample_sum(p.data + 26, 8, 17 + 12);
	assert_int_equal(csum_l4(&p), htobe16((uint16_t)~sample_sum(p.data + 34, 12, sum)));

	frame_build(&spec, frame);
	sample_put16(frame + 42, 0);
	sample_put16(frame + 40, 0);
	sum = sample_sum(frame + 34, 18, sample_sum(frame + 26, 8, 17 + 18));
	sample_put16(frame + 42, ~sum & 0xffff);
	assert_int_equal(sample_parse(frame, 52, &p), DROP_NONE);
	field = csum_l4(&p);
	assert_int_equal(field, 0xffff);
}

// S1: a SYN with the pseudo header's sum in its field; the finished one is dc33.
static void test_complete_seed(void **state)
{
	uint32_t len = frame_hex(
		"0100000000002200100002000000010102000000010a08004500002800014000400621ca0af4"
		"010a0af402149c401f90000003e8000000005002faf019200000",
		frame);
	struct pkt p = sample_pkt(frame + 10, len - 10);

	(void)state;
	memcpy(&p.vnet, frame, 10);
	assert_int_equal(parse_frame(&p), DROP_NONE);
	assert_int_equal(vnet_check(&p, 1450), DROP_NONE);
	assert_int_equal(p.vnet.flags, VNET_F_NEEDS_CSUM);
	csum_complete(&p);
	assert_int_equal(sample_get16(p.data + 50), 0xdc33);
	assert_int_equal(p.vnet.flags, 0);
	assert_true(frame_sums_ok(p.data, p.len));
}

static void test_complete_any(void **state)
{
	(void)state;
	for (uint16_t payload = 0; payload < 200; payload++) {
		for (int kind = 0; kind < 4; kind++) {
			const bool v6 = kind & 1, udp = kind & 2;
			struct frame_spec spec = sample_spec(v6, udp ? 17 : 6, payload);
			uint32_t len = frame_build(&spec, frame);
			uint32_t l4 = v6 ? 54 : 34, at = l4 + (udp ? 6 : 16);
			struct pkt p;

			sample_put16(frame + at,
				     v6 ? sample_sum(frame + 22, 32, spec.proto + len - l4)
					: sample_sum(frame + 26, 8, spec.proto + len - l4));
			p = sample_pkt(frame, len);
			p.vnet.flags = VNET_F_NEEDS_CSUM;
			p.vnet.csum_start = (uint16_t)l4;
			p.vnet.csum_offset = (uint16_t)(at - l4);
			assert_int_equal(parse_frame(&p), DROP_NONE);
			csum_complete(&p);
			assert_true(frame_sums_ok(p.data, p.len));
		}
	}
}

// A UDP sum that comes out as zero is sent as ones, or the receiver would skip the check.
static void test_complete_udp_zero(void **state)
{
	struct frame_spec spec = sample_spec(false, 17, 2);
	uint32_t len = frame_build(&spec, frame), sum;
	struct pkt p;

	(void)state;
	sum = sample_sum(frame + 26, 8, 17 + 10);
	sample_put16(frame + 40, sum);
	sample_put16(frame + 42, 0);
	sample_put16(frame + 42, ~sample_sum(frame + 34, 10, 0) & 0xffff);
	p = sample_pkt(frame, len);
	p.vnet = (struct vnet_hdr){.flags = 1, .csum_start = 34, .csum_offset = 6};
	assert_int_equal(parse_frame(&p), DROP_NONE);
	csum_complete(&p);
	assert_int_equal(sample_get16(p.data + 40), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partial_on_every_size),
		cmocka_unit_test(test_partial_carries),
		cmocka_unit_test(test_partial_in_two_pieces),
		cmocka_unit_test(test_ipv4_header),
		cmocka_unit_test(test_update16),
		cmocka_unit_test(test_dec_ttl),
		cmocka_unit_test(test_l4_of_built_frames),
		cmocka_unit_test(test_l4_of_udp),
		cmocka_unit_test(test_complete_seed),
		cmocka_unit_test(test_complete_any),
		cmocka_unit_test(test_complete_udp_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
