// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "packet/crc32c.h"

#define MTU 1450

static uint8_t frame[FRAME_MAX];

// The packets that offload headers are put in front of.
enum kind { TCP4, TCP6, UDP4, UDP6, ICMP4, SCTP4, FRAGMENT4, ARP, KIND_COUNT };

struct shape {
	enum kind kind;
	uint16_t payload;
};

static uint32_t build(const struct shape *s)
{
	static const uint8_t protos[KIND_COUNT] = {6, 6, 17, 17, 1, 132, 17, 0};
	struct frame_spec spec =
		sample_spec(s->kind == TCP6 || s->kind == UDP6, protos[s->kind], s->payload);

	if (s->kind == ARP)
		return frame_arp(1, &sample_pod_mac, &sample_pod_mac, "10.244.1.10", "10.244.1.1",
				 frame);
	spec.frag_more = s->kind == FRAGMENT4;
	return frame_build(&spec, frame);
}

static uint32_t l4_of(enum kind kind)
{
	return kind == TCP6 || kind == UDP6 ? 54 : kind == ARP ? 0 : 34;
}

static bool is_tcp(enum kind kind)
{
	return kind == TCP4 || kind == TCP6;
}

static bool is_udp(enum kind kind)
{
	return kind == UDP4 || kind == UDP6;
}

// ---- the rule, written a second time ----

// Which checksum offset the packet has; -1: none that may be left open.
static int rule_offset(enum kind kind)
{
	return is_tcp(kind) ? 16 : is_udp(kind) ? 6 : kind == SCTP4 ? 8 : -1;
}

static bool rule_type(enum kind kind, uint8_t type)
{
	const uint8_t base = type & 0x7f;

	return (kind == TCP4 && base == 1) || (kind == TCP6 && base == 4) ||
	       (is_udp(kind) && type == 5);
}

static enum drop_reason rule(const struct shape *s, const struct vnet_hdr *v, uint32_t len)
{
	const bool open_sum = v->flags & 1;
	const uint32_t head = is_tcp(s->kind) ? 20 : 8;
	uint32_t segments;

	if (open_sum && (v->csum_start != l4_of(s->kind) || v->csum_offset != rule_offset(s->kind)))
		return DROP_VNET_BAD_CSUM;
	if (v->gso_type == 0)
		return len - 14 > MTU ? DROP_TOO_BIG : DROP_NONE;
	if (!open_sum || !rule_type(s->kind, v->gso_type) || s->payload == 0)
		return DROP_VNET_BAD_GSO;
	if (v->gso_size == 0 || ((v->gso_type & 0x7f) != 5 && v->gso_size < 256))
		return DROP_VNET_GSO_SMALL;
	segments = s->payload / v->gso_size + (s->payload % v->gso_size != 0);
	if (segments > 128)
		return DROP_VNET_GSO_SMALL;
	return l4_of(s->kind) - 14 + head + v->gso_size > MTU ? DROP_TOO_BIG : DROP_NONE;
}

// ---- generated cases ----

static const uint8_t flag_values[] = {0, 1, 2, 3, 0xfe, 0xff};
static const uint8_t type_values[] = {0, 1, 2, 3, 4, 5, 0x20, 0x40, 0x80, 0x81, 0x84, 0x85, 0xff};
static const uint16_t size_values[] = {0, 1, 255, 256, 536, 1390, 1391, 1410, 1411, 65535};
static const uint16_t start_values[] = {0, 26, 33, 34, 35, 38, 54, 62, 65535};
static const uint16_t offset_values[] = {0, 2, 4, 6, 8, 16, 65535};
static const struct shape shapes[] = {
	{TCP4, 0},     {TCP4, 1},    {TCP4, 1410},  {TCP4, 1411},     {TCP4, 8700},
	{TCP4, 60000}, {TCP6, 0},    {TCP6, 1390},  {TCP6, 60000},    {UDP4, 0},
	{UDP4, 1422},  {UDP4, 1423}, {UDP4, 9000},  {UDP6, 9000},     {UDP6, 65000},
	{ICMP4, 56},   {SCTP4, 40},  {SCTP4, 3000}, {FRAGMENT4, 800}, {ARP, 0},
};

struct counts {
	unsigned all, accepted;
};

static void check(const struct shape *s, const struct pkt *parsed, const struct vnet_hdr *v,
		  struct counts *n)
{
	struct pkt p = *parsed;
	const enum drop_reason want = rule(s, v, p.len);
	enum drop_reason got;

	p.vnet = *v;
	got = vnet_check(&p, MTU);
	n->all++;
	n->accepted += got == DROP_NONE;
	if (got != want)
		fail_msg("kind %d payload %u flags %x type %x size %u start %u offset %u: %s, not "
			 "%s",
			 s->kind, s->payload, v->flags, v->gso_type, v->gso_size, v->csum_start,
			 v->csum_offset, drop_table[got].name, drop_table[want].name);
	if (got != DROP_NONE)
		return;
	// What remains is exactly what was judged.
	assert_true(p.vnet.flags == (s->kind == SCTP4 ? 0 : v->flags & 1));
	assert_int_equal(p.vnet.gso_type, v->gso_type);
	assert_int_equal(p.vnet.gso_size, v->gso_type ? v->gso_size : 0);
	assert_int_equal(p.vnet.csum_start, p.vnet.flags ? l4_of(s->kind) : 0);
	assert_int_equal(p.vnet.hdr_len,
			 v->gso_type ? l4_of(s->kind) + (is_tcp(s->kind) ? 20u : 8u) : 0);
}

static void check_offsets(const struct shape *s, const struct pkt *p, struct vnet_hdr v,
			  struct counts *n)
{
	for (size_t i = 0; i < ARRAY_LEN(start_values); i++) {
		for (size_t j = 0; j < ARRAY_LEN(offset_values); j++) {
			v.csum_start = start_values[i];
			v.csum_offset = offset_values[j];
			v.hdr_len = (uint16_t)(i * 7919 + j);
			check(s, p, &v, n);
		}
	}
}

static void check_shape(const struct shape *s, struct counts *n)
{
	struct pkt p;

	assert_int_equal(sample_parse(frame, build(s), &p), DROP_NONE);
	for (size_t i = 0; i < ARRAY_LEN(flag_values); i++) {
		for (size_t j = 0; j < ARRAY_LEN(type_values); j++) {
			for (size_t k = 0; k < ARRAY_LEN(size_values); k++)
				check_offsets(s, &p,
					      (struct vnet_hdr){.flags = flag_values[i],
								.gso_type = type_values[j],
								.gso_size = size_values[k]},
					      n);
		}
	}
}

static void test_product_against_rule(void **state)
{
	struct counts n = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		check_shape(&shapes[i], &n);
	print_message("%u headers, %u accepted\n", n.all, n.accepted);
	assert_true(n.all >= 200 && n.accepted > 100 && n.accepted < n.all / 2);
}

// ---- headers that were seen or are known to hurt ----

static const struct hostile {
	const char *name;
	struct shape shape;
	struct vnet_hdr v; // flags, type, hdr_len, gso_size, start, offset
	enum drop_reason reason;
} hostiles[] = {
	{"S2: TCP GSO", {TCP4, 8700}, {1, 1, 54, 1410, 34, 16}, DROP_NONE},
	{"TCP GSO with ECN", {TCP4, 8700}, {1, 0x81, 54, 1410, 34, 16}, DROP_NONE},
	{"UDP GSO", {UDP4, 9000}, {1, 5, 42, 1400, 34, 6}, DROP_NONE},
	{"UDP GSO with ECN", {UDP4, 9000}, {1, 0x85, 42, 1400, 34, 6}, DROP_VNET_BAD_GSO},
	{"UFO", {UDP4, 9000}, {1, 3, 42, 1400, 34, 6}, DROP_VNET_BAD_GSO},
	{"sum onto the port", {TCP4, 100}, {1, 0, 0, 0, 34, 2}, DROP_VNET_BAD_CSUM},
	{"sum onto the address", {TCP4, 100}, {1, 0, 0, 0, 26, 4}, DROP_VNET_BAD_CSUM},
	{"odd start", {TCP4, 100}, {1, 0, 0, 0, 35, 15}, DROP_VNET_BAD_CSUM},
	{"start behind the end", {TCP4, 100}, {1, 0, 0, 0, 5000, 16}, DROP_VNET_BAD_CSUM},
	{"start wraps with offset", {TCP4, 100}, {1, 0, 0, 0, 65535, 65535}, DROP_VNET_BAD_CSUM},
	{"65000 segments", {TCP4, 60000}, {1, 1, 54, 1, 34, 16}, DROP_VNET_GSO_SMALL},
	{"gso_size 0", {TCP4, 8700}, {1, 1, 54, 0, 34, 16}, DROP_VNET_GSO_SMALL},
	{"gso_size 65535", {TCP4, 8700}, {1, 1, 54, 65535, 34, 16}, DROP_TOO_BIG},
	{"129 segments", {TCP4, 256 * 128 + 1}, {1, 1, 54, 256, 34, 16}, DROP_VNET_GSO_SMALL},
	{"128 segments", {TCP4, 256 * 128}, {1, 1, 54, 256, 34, 16}, DROP_NONE},
	{"hdr_len 0", {TCP4, 8700}, {1, 1, 0, 1410, 34, 16}, DROP_NONE},
	{"hdr_len 65535", {TCP4, 8700}, {1, 1, 65535, 1410, 34, 16}, DROP_NONE},
	{"GSO without sum", {TCP4, 8700}, {0, 1, 54, 1410, 34, 16}, DROP_VNET_BAD_GSO},
	{"GSO on a fragment", {FRAGMENT4, 8000}, {1, 5, 42, 1400, 34, 6}, DROP_VNET_BAD_CSUM},
	{"v6 type on v4", {TCP4, 8700}, {1, 4, 54, 1410, 34, 16}, DROP_VNET_BAD_GSO},
	{"v4 type on v6", {TCP6, 8700}, {1, 1, 74, 1390, 54, 16}, DROP_VNET_BAD_GSO},
	{"TCP type on UDP", {UDP4, 9000}, {1, 1, 42, 1400, 34, 6}, DROP_VNET_BAD_GSO},
	{"UDP type on TCP", {TCP4, 8700}, {1, 5, 54, 1410, 34, 16}, DROP_VNET_BAD_GSO},
	{"no payload", {TCP4, 0}, {1, 1, 54, 1410, 34, 16}, DROP_VNET_BAD_GSO},
	{"ECN bit alone", {TCP4, 100}, {1, 0x80, 54, 1410, 34, 16}, DROP_VNET_BAD_GSO},
	{"over MTU without GSO", {TCP4, 1411}, {1, 0, 0, 0, 34, 16}, DROP_TOO_BIG},
	{"at the MTU", {TCP4, 1410}, {1, 0, 0, 0, 34, 16}, DROP_NONE},
	{"sum in ARP", {ARP, 0}, {1, 0, 0, 0, 0, 0}, DROP_VNET_BAD_CSUM},
	{"GSO on ARP", {ARP, 0}, {0, 1, 0, 1410, 0, 0}, DROP_VNET_BAD_GSO},
	{"sum in ICMP", {ICMP4, 56}, {1, 0, 0, 0, 34, 2}, DROP_VNET_BAD_CSUM},
	{"checked by the sender", {TCP4, 100}, {2, 0, 0, 0, 0, 0}, DROP_NONE},
};

static void test_hostile_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hostiles); i++) {
		const struct hostile *h = &hostiles[i];
		struct pkt p;
		enum drop_reason got;

		assert_int_equal(sample_parse(frame, build(&h->shape), &p), DROP_NONE);
		p.vnet = h->v;
		got = vnet_check(&p, MTU);
		if (got != h->reason)
			fail_msg("%s: %s", h->name, drop_table[got].name);
	}
}

// TCP options count into what every segment repeats.
static void test_gso_with_tcp_options(void **state)
{
	struct shape s = {TCP4, 8700};
	uint32_t len = build(&s);
	struct pkt p;

	(void)state;
	frame[46] = 15 << 4;
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	p.vnet = (struct vnet_hdr){1, 1, 0, 1370, 34, 16};
	assert_int_equal(vnet_check(&p, MTU), DROP_NONE);
	assert_int_equal(p.vnet.hdr_len, 94);
	p.vnet = (struct vnet_hdr){1, 1, 0, 1371, 34, 16};
	assert_int_equal(vnet_check(&p, MTU), DROP_TOO_BIG);
}

// Padding behind the IP length does not make a frame too long, nor part of a sum.
static void test_padding(void **state)
{
	struct shape s = {TCP4, 1410};
	uint32_t len = build(&s);
	struct pkt p;

	(void)state;
	memset(frame + len, 0xee, 100);
	assert_int_equal(sample_parse(frame, len + 100, &p), DROP_NONE);
	p.vnet = (struct vnet_hdr){1, 0, 0, 0, 34, 16};
	assert_int_equal(vnet_check(&p, MTU), DROP_NONE);
	assert_int_equal(p.len, len);
}

// With bytes behind the UDP datagram the sum would cover what the receiver does not.
static void test_udp_shorter_than_packet(void **state)
{
	struct shape s = {UDP4, 100};
	uint32_t len = build(&s);
	struct pkt p;

	(void)state;
	sample_put16(frame + 38, 100);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	p.vnet = (struct vnet_hdr){1, 0, 0, 0, 34, 6};
	assert_int_equal(vnet_check(&p, MTU), DROP_VNET_BAD_CSUM);
}

static void test_sctp_is_finished(void **state)
{
	struct shape s = {SCTP4, 40};
	const uint32_t len = build(&s);
	uint8_t want[128];
	struct pkt p;

	(void)state;
	memcpy(want, frame, len);
	crc32c_sctp(want + 34, len - 34);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	p.vnet = (struct vnet_hdr){1, 0, 0, 0, 34, 8};
	assert_int_equal(vnet_check(&p, MTU), DROP_NONE);
	assert_int_equal(p.vnet.flags, 0);
	assert_memory_equal(p.data, want, len);
	// Left alone where nobody asked.
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(vnet_check(&p, MTU), DROP_NONE);
	assert_memory_equal(p.data, frame, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_product_against_rule),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_gso_with_tcp_options),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_udp_shorter_than_packet),
		cmocka_unit_test(test_sctp_is_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
