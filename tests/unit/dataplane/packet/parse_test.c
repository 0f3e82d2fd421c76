// SPDX-License-Identifier: Apache-2.0
#include "sample.h"
#include "sound.h"

#include "packet/csum.h"

#define PROTO_TCP 6
#define PROTO_UDP 17

static uint8_t frame[FRAME_MAX];

// Ethernet, VLAN and packets as a whole; the layers have tests of their own.

#define TCP_HEX "450000280001400040060497c63364070af4010ac3501f9000000001000000005002faf09bd70000"
#define MACS "02000000000b020000000001"

static const struct tag_case {
	const char *name, *hex;
	enum drop_reason reason;
} tag_cases[] = {
	{"S7: priority tag", MACS "8100a0000800" TCP_HEX, DROP_NONE},
	{"no tag", MACS "0800" TCP_HEX, DROP_NONE},
	{"VID 20", MACS "810000140800" TCP_HEX, DROP_PARSE_VLAN},
	{"VID 4095", MACS "81000fff0800" TCP_HEX, DROP_PARSE_VLAN},
	{"two priority tags", MACS "81000000810000000800" TCP_HEX, DROP_PARSE_VLAN},
	{"service tag", MACS "88a800000800" TCP_HEX, DROP_PARSE_VLAN},
	{"service tag and tag", MACS "88a80000810000000800" TCP_HEX, DROP_PARSE_VLAN},
	{"service tag within", MACS "8100000088a800000800" TCP_HEX, DROP_PARSE_VLAN},
	{"tag at the end", MACS "81000000", DROP_PARSE_SHORT},
	{"half a tag", MACS "810000", DROP_PARSE_SHORT},
	{"tag and EtherType only", MACS "810000000800", DROP_PARSE_SHORT},
	{"ARP with priority tag",
	 "ffffffffffff02000000010a81000000"
	 "0806000108000604000102000000010a0af4010a00000000"
	 "00000af40101",
	 DROP_NONE},
	{"unknown EtherType", MACS "88cc" TCP_HEX, DROP_PARSE_ETH_TYPE},
	{"length instead of a type", MACS "0028" TCP_HEX, DROP_PARSE_ETH_TYPE},
	{"MACs only", MACS, DROP_PARSE_SHORT},
	{"nothing", "", DROP_PARSE_SHORT},
};

static void test_tags(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tag_cases); i++) {
		const struct tag_case *c = &tag_cases[i];
		struct pkt p;
		uint32_t len = frame_hex(c->hex, frame);

		if (sample_parse(frame, len, &p) != c->reason)
			fail_msg("%s: got another reason", c->name);
		if (c->reason == DROP_NONE && !sound_pkt(&p, len))
			fail_msg("%s: not sound", c->name);
	}
}

static void test_priority_tag_is_gone(void **state)
{
	uint8_t plain[64];
	struct pkt p = {0};
	uint32_t len = frame_hex(tag_cases[0].hex, frame);
	uint32_t plain_len = frame_hex(tag_cases[1].hex, plain);

	(void)state;
	p = sample_pkt(frame, len);
	p.vnet = (struct vnet_hdr){
		.flags = VNET_F_NEEDS_CSUM, .csum_start = 38, .csum_offset = 16, .hdr_len = 58};
	assert_int_equal(parse_frame(&p), DROP_NONE);
	assert_int_equal(p.len, plain_len);
	assert_memory_equal(p.data, plain, plain_len);
	assert_int_equal(p.vnet.csum_start, 34);
	assert_int_equal(p.vnet.hdr_len, 54);
	assert_int_equal(p.l4_off, 34);
	assert_int_equal(p.key.dport, htobe16(8080));
	// Offsets that point into the tag stay wrong, they do not wrap.
	p = sample_pkt(frame, len);
	p.vnet = (struct vnet_hdr){.flags = VNET_F_NEEDS_CSUM, .csum_start = 2, .hdr_len = 1};
	assert_int_equal(parse_frame(&p), DROP_NONE);
	assert_int_equal(p.vnet.csum_start, 0);
	assert_int_equal(p.vnet.hdr_len, 0);
}

static void test_metadata_tags(void **state)
{
	static const struct {
		uint16_t tpid, tci;
		enum drop_reason reason;
	} rows[] = {
		{0x8100, 0xa000, DROP_NONE},       {0x8100, 0, DROP_NONE},
		{0x8100, 20, DROP_PARSE_VLAN},     {0x8100, 0xa014, DROP_PARSE_VLAN},
		{0x88a8, 0, DROP_PARSE_VLAN},      {0, 0, DROP_PARSE_VLAN},
		{0x9100, 0xa000, DROP_PARSE_VLAN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pkt p = sample_pkt(frame, frame_hex(tag_cases[1].hex, frame));

		p.flags = PKT_F_VLAN;
		p.vlan_tpid = rows[i].tpid;
		p.vlan_tci = rows[i].tci;
		assert_int_equal(parse_frame(&p), rows[i].reason);
		assert_int_equal(p.len, 54);
	}
}

// One tag in metadata and one in the frame are two tags.
static void test_both_tags(void **state)
{
	struct pkt p = sample_pkt(frame, frame_hex(tag_cases[0].hex, frame));

	(void)state;
	p.flags = PKT_F_VLAN;
	p.vlan_tpid = 0x8100;
	assert_int_equal(parse_frame(&p), DROP_PARSE_VLAN);
}

static void test_chained_tags(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 64; n++) {
		uint32_t len = frame_hex(MACS, frame);
		struct pkt p;

		for (uint32_t i = 0; i < n; i++)
			len += frame_hex("81000000", frame + len);
		len += frame_hex("0800" TCP_HEX, frame + len);
		assert_int_equal(sample_parse(frame, len, &p), DROP_PARSE_VLAN);
	}
}

static void test_oversize(void **state)
{
	struct pkt p = sample_pkt(frame, frame_hex(tag_cases[1].hex, frame));

	(void)state;
	p.flags = PKT_F_OVERSIZE;
	assert_int_equal(parse_frame(&p), DROP_RX_TRUNCATED);
}

// What an earlier packet left in the descriptor must not show.
static void test_dirty_descriptor(void **state)
{
	struct pkt clean, dirty;
	uint32_t len = frame_hex(tag_cases[1].hex, frame);

	(void)state;
	assert_int_equal(sample_parse(frame, len, &clean), DROP_NONE);
	for (int fill = 0; fill < 256; fill += 85) {
		memset(&dirty, fill, sizeof(dirty));
		dirty.data = clean.data;
		dirty.len = len;
		dirty.in_port = SAMPLE_PORT;
		dirty.flags &= ~(uint32_t)(PKT_F_VLAN | PKT_F_OVERSIZE);
		assert_int_equal(parse_frame(&dirty), DROP_NONE);
		assert_memory_equal(&dirty.key, &clean.key, sizeof(clean.key));
		assert_int_equal(dirty.flags, clean.flags);
		assert_int_equal(dirty.l4_off, clean.l4_off);
		assert_int_equal(dirty.ttl, clean.ttl);
	}
}

// ---- every sample, cut and padded ----

struct sample {
	const char *name;
	uint32_t len;
	uint8_t bytes[256];
};

#define SAMPLES_MAX 64

struct samples {
	unsigned count;
	struct sample s[SAMPLES_MAX];
};

static struct sample *add_sample(struct samples *all, const char *name)
{
	struct sample *s = &all->s[all->count++];

	assert_true(all->count <= SAMPLES_MAX);
	s->name = name;
	return s;
}

static void add_built(struct samples *all, const char *name, const struct frame_spec *spec)
{
	struct sample *s = add_sample(all, name);
	uint32_t len = frame_build(spec, frame);

	assert_true(len <= sizeof(s->bytes));
	memcpy(s->bytes, frame, len);
	s->len = len;
}

static void add_protocols(struct samples *all)
{
	static const uint8_t protos[] = {6, 17, 1, 58, 132, 2, 47, 50, 59, 255};

	for (int v6 = 0; v6 < 2; v6++) {
		for (size_t i = 0; i < ARRAY_LEN(protos); i++) {
			struct frame_spec spec = sample_spec(v6, protos[i], 40);

			add_built(all, v6 ? "IPv6 protocol" : "IPv4 protocol", &spec);
		}
	}
}

static void add_fragments(struct samples *all)
{
	for (int v6 = 0; v6 < 2; v6++) {
		struct frame_spec spec = sample_spec(v6, PROTO_UDP, 40);

		spec.frag = spec.frag_more = true;
		add_built(all, "first fragment", &spec);
		spec.frag_off = 48;
		add_built(all, "middle fragment", &spec);
		spec.frag_more = false;
		add_built(all, "last fragment", &spec);
	}
}

static void add_extensions(struct samples *all)
{
	static const uint8_t types[] = {0, 43, 44, 51, 60};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct frame_spec spec = sample_spec(true, PROTO_TCP, 16);
		struct sample *s;

		add_built(all, "extension header", &spec);
		s = &all->s[all->count - 1];
		s->len = sample_add_extension(s->bytes, s->len, types[i], types[i] == 44 ? 8 : 24);
	}
}

static void add_rest(struct samples *all)
{
	static const uint8_t options[8] = {1, 148, 4, 0, 0, 1, 1, 0};
	struct frame_spec spec = sample_spec(false, PROTO_TCP, 16);
	struct sample *s;

	add_built(all, "IPv4 router alert", &spec);
	s = &all->s[all->count - 1];
	s->len = sample_add_options(s->bytes, s->len, options, sizeof(options));
	s = add_sample(all, "ND solicitation");
	s->len = frame_nd(135, &sample_pod_mac, "fd00:10:1::a", "fe80::1", &sample_pod_mac,
			  s->bytes);
	s = add_sample(all, "S7");
	s->len = frame_hex(tag_cases[0].hex, s->bytes);
}

static struct samples *all_samples(void)
{
	static struct samples all;

	if (all.count == 0) {
		add_protocols(&all);
		add_fragments(&all);
		add_extensions(&all);
		add_rest(&all);
	}
	return &all;
}

// Ends of fields that only a frame with matching IP lengths reaches.
static void set_ip_length(uint8_t *f, uint32_t len)
{
	if (f[12] == 0x86 && len >= 54) {
		sample_put16(f + 18, len - 54);
	} else if (f[12] == 0x08 && len >= 34) {
		sample_put16(f + 16, len - 14);
		sample_fix_ipv4(f);
	}
}

static void test_truncated_everywhere(void **state)
{
	const struct samples *all = all_samples();

	(void)state;
	for (unsigned i = 0; i < all->count; i++) {
		const struct sample *s = &all->s[i];
		struct pkt p;

		assert_int_equal(sample_parse(s->bytes, s->len, &p), DROP_NONE);
		assert_true(sound_pkt(&p, s->len));
		for (uint32_t cut = 0; cut < s->len; cut++) {
			if (sample_parse(s->bytes, cut, &p) == DROP_NONE)
				fail_msg("%s (%u) cut to %u bytes was accepted", s->name, i, cut);
			memcpy(frame, s->bytes, s->len);
			set_ip_length(frame, cut);
			if (sample_parse(frame, cut, &p) == DROP_NONE && !sound_pkt(&p, cut))
				fail_msg("%s (%u) shortened to %u is not sound", s->name, i, cut);
		}
	}
}

static void test_padding_is_cut(void **state)
{
	const struct samples *all = all_samples();

	(void)state;
	for (unsigned i = 0; i < all->count; i++) {
		const struct sample *s = &all->s[i];
		struct pkt bare, padded;

		assert_int_equal(sample_parse(s->bytes, s->len, &bare), DROP_NONE);
		memset(frame, 0xee, 1514);
		memcpy(frame, s->bytes, s->len);
		for (uint32_t len = s->len; len <= 1514; len += len < s->len + 20 ? 1 : 97) {
			assert_int_equal(sample_parse(frame, len, &padded), DROP_NONE);
			assert_int_equal(padded.len, bare.len);
			assert_memory_equal(&padded.key, &bare.key, sizeof(bare.key));
			assert_int_equal(padded.flags, bare.flags);
			assert_int_equal(padded.l4_off, bare.l4_off);
		}
	}
}

// S8: a bare ACK that the sender padded to 60 bytes.
static void test_padded_ack(void **state)
{
	struct pkt p;
	uint32_t len = frame_hex(
		"02000000010102000000010a08004500002800014000400621ca0af4010a0af402149c401f90"
		"000003e9000013895010faf0c89b0000eeeeeeeeeeee",
		frame);

	(void)state;
	assert_int_equal(len, 60);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(p.len, 54);
	assert_int_equal(csum_l4(&p), htobe16(0xc89b));
}

// Any byte of any sample changed: what still passes is sound and tells the change in its key or
// length.
static void test_flipped_bytes(void **state)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x0f, 0xf0};
	const struct samples *all = all_samples();
	struct pkt p;

	(void)state;
	for (unsigned i = 0; i < all->count; i++) {
		const struct sample *s = &all->s[i];

		for (uint32_t at = 0; at < s->len * ARRAY_LEN(flips); at++) {
			memcpy(frame, s->bytes, s->len);
			frame[at / ARRAY_LEN(flips)] ^= flips[at % ARRAY_LEN(flips)];
			if (frame[12] == 0x08 && frame[13] == 0 && (frame[14] & 15) >= 5 &&
			    14 + (frame[14] & 15u) * 4 <= s->len)
				sample_fix_ipv4(frame);
			if (sample_parse(frame, s->len, &p) == DROP_NONE)
				assert_true(sound_pkt(&p, s->len));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_priority_tag_is_gone),
		cmocka_unit_test(test_metadata_tags),
		cmocka_unit_test(test_both_tags),
		cmocka_unit_test(test_chained_tags),
		cmocka_unit_test(test_oversize),
		cmocka_unit_test(test_dirty_descriptor),
		cmocka_unit_test(test_truncated_everywhere),
		cmocka_unit_test(test_padding_is_cut),
		cmocka_unit_test(test_padded_ack),
		cmocka_unit_test(test_flipped_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
