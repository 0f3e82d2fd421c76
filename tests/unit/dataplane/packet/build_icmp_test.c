// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "packet/build.h"
#include "packet/csum.h"

static uint8_t frame[FRAME_MAX], out[BUILD_FRAME_MAX + 1];

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;

	assert_int_equal(ipaddr_parse(text, &a), 0);
	return a;
}

static struct pkt packet(const struct frame_spec *spec)
{
	struct pkt p;

	assert_int_equal(sample_parse(frame, frame_build(spec, frame), &p), DROP_NONE);
	return p;
}

static struct frame_spec echo(bool v6, uint16_t payload)
{
	struct frame_spec spec = sample_spec(v6, v6 ? 58 : 1, payload);

	spec.dport = 0x1234;
	return spec;
}

// Parses what was built, which must be a whole and correct frame for the sender of p.
static struct pkt answer(const struct pkt *p, uint32_t len)
{
	struct pkt q;

	assert_in_range(len, 42, BUILD_FRAME_MAX);
	assert_true(frame_sums_ok(out, len));
	assert_int_equal(sample_parse(out, len, &q), DROP_NONE);
	assert_int_equal(q.len, len);
	assert_int_equal(q.eth_type, p->eth_type);
	assert_memory_equal(out, &sample_pod_mac, 6);
	assert_memory_equal(out + 6, &sample_gw_mac, 6);
	assert_true(ipaddr_is_equal(&q.key.dst, &p->key.src));
	return q;
}

static void test_echo_reply(void **state)
{
	(void)state;
	for (uint16_t payload = 0; payload <= 1200; payload += payload < 64 ? 1 : 71) {
		for (int v6 = 0; v6 < 2; v6++) {
			struct frame_spec spec = echo(v6, payload);
			struct pkt p = packet(&spec), q;
			const uint32_t l4 = v6 ? 54 : 34;

			q = answer(&p, build_echo_reply(&p, &sample_gw_mac, out));
			assert_true(ipaddr_is_equal(&q.key.src, &p.key.dst));
			assert_int_equal(out[l4], v6 ? 129 : 0);
			assert_memory_equal(out + l4 + 4, frame + l4 + 4, 4u + payload);
			assert_int_equal(q.ttl, 64);
		}
	}
}

static void test_echo_size_limit(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct frame_spec spec = echo(v6, v6 ? 1232 : 1252);
		struct pkt p = packet(&spec);

		assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), BUILD_FRAME_MAX);
		spec.payload++;
		p = packet(&spec);
		assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), 0);
		spec.payload = 60000;
		p = packet(&spec);
		assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), 0);
	}
}

// Options of the request do not come back.
static void test_echo_with_options(void **state)
{
	static const uint8_t options[4] = {148, 4, 0, 0};
	struct frame_spec spec = echo(false, 20);
	struct pkt p;
	uint32_t len;

	(void)state;
	len = sample_add_options(frame, frame_build(&spec, frame), options, 4);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), len - 4);
	answer(&p, len - 4);
	spec = echo(true, 20);
	len = sample_add_extension(frame, frame_build(&spec, frame), 60, 8);
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), len - 8);
	answer(&p, len - 8);
}

static const struct no_echo {
	const char *name, *src, *dst;
	uint8_t proto;
	uint16_t type_code;
	uint8_t mac0;
	bool fragment;
} no_echos[] = {
	{"reply", "10.0.0.1", "10.0.0.2", 1, 0x0000, 2, false},
	{"reply of IPv6", "fd00::1", "fd00::2", 58, 0x8100, 2, false},
	{"code 1", "10.0.0.1", "10.0.0.2", 1, 0x0801, 2, false},
	{"error", "10.0.0.1", "10.0.0.2", 1, 0x0303, 2, false},
	{"UDP", "10.0.0.1", "10.0.0.2", 17, 0x0800, 2, false},
	{"echo of the other family", "10.0.0.1", "10.0.0.2", 58, 0x8000, 2, false},
	{"first fragment", "10.0.0.1", "10.0.0.2", 1, 0x0800, 2, true},
	{"from nowhere", "0.0.0.0", "10.0.0.2", 1, 0x0800, 2, false},
	{"from a group", "224.0.0.1", "10.0.0.2", 1, 0x0800, 2, false},
	{"from a group's MAC", "10.0.0.1", "10.0.0.2", 1, 0x0800, 3, false},
	{"to a group", "10.0.0.1", "224.0.0.1", 1, 0x0800, 2, false},
	{"to all", "10.0.0.1", "255.255.255.255", 1, 0x0800, 2, false},
	{"to a group of IPv6", "fd00::1", "ff02::1", 58, 0x8000, 2, false},
};

static void test_no_echo_reply(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(no_echos); i++) {
		const struct no_echo *c = &no_echos[i];
		struct frame_spec spec = {
			.src_mac = sample_pod_mac,
			.dst_mac = sample_gw_mac,
			.src = c->src,
			.dst = c->dst,
			.proto = c->proto,
			.sport = c->type_code,
			.frag_more = c->fragment,
			.payload = 40,
		};
		struct pkt p;

		spec.src_mac.b[0] = c->mac0;
		p = packet(&spec);
		if (build_echo_reply(&p, &sample_gw_mac, out) != 0)
			fail_msg("%s was answered", c->name);
	}
}

static void test_echo_with_wrong_sum(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct frame_spec spec = echo(v6, 40);
		struct pkt p = packet(&spec);

		p.data[p.len - 1] ^= 1;
		assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), 0);
	}
}

// ---- errors ----

static struct build_error error(bool v6, enum build_icmp kind)
{
	return (struct build_error){
		.kind = kind,
		.mtu = 1400,
		.source = addr(v6 ? "fe80::1" : "10.244.1.1"),
		.our_mac = sample_gw_mac,
	};
}

static const struct error_case {
	enum build_icmp kind;
	uint8_t type4, code4, type6, code6;
	bool mtu;
} error_cases[] = {
	{BUILD_TTL_EXCEEDED, 11, 0, 3, 0, false},    {BUILD_NET_UNREACHABLE, 3, 0, 1, 0, false},
	{BUILD_HOST_UNREACHABLE, 3, 1, 1, 3, false}, {BUILD_PORT_UNREACHABLE, 3, 3, 1, 4, false},
	{BUILD_TOO_BIG, 3, 4, 2, 0, true},
};

static void check_error(const struct error_case *c, bool v6, uint16_t payload)
{
	const uint32_t l4 = v6 ? 54 : 34, limit = v6 ? 1280 : 576;
	struct frame_spec spec = sample_spec(v6, 17, payload);
	struct build_error e = error(v6, c->kind);
	struct pkt p = packet(&spec), q;
	uint32_t len = build_icmp_error(&p, &e, out);

	q = answer(&p, len);
	assert_true(ipaddr_is_equal(&q.key.src, &e.source));
	assert_int_equal(out[l4], v6 ? c->type6 : c->type4);
	assert_int_equal(out[l4 + 1], v6 ? c->code6 : c->code4);
	assert_int_equal(sample_get16(out + l4 + 4), 0);
	assert_int_equal(sample_get16(out + l4 + 6), c->mtu ? 1400 : 0);
	// The quote is the packet from its IP header on, as much as fits.
	assert_memory_equal(out + l4 + 8, frame + 14, len - l4 - 8);
	assert_true(len - 14 <= limit);
	assert_true(len - 14 == limit || len - l4 - 8 == p.len - 14);
}

static void test_errors(void **state)
{
	static const uint16_t payloads[] = {0,    1,    8,    100,  519,  520,  521,
					    1000, 1183, 1184, 1185, 1400, 9000, 65000};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(error_cases); i++) {
		for (size_t j = 0; j < 2 * ARRAY_LEN(payloads); j++)
			check_error(&error_cases[i], j % 2, payloads[j / 2]);
	}
}

static void test_mtu_values(void **state)
{
	static const uint32_t mtus[] = {0, 68, 1280, 65535, 65536, 0xffffffff};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mtus); i++) {
		for (int v6 = 0; v6 < 2; v6++) {
			struct frame_spec spec = sample_spec(v6, 6, 100);
			struct build_error e = error(v6, BUILD_TOO_BIG);
			const uint8_t *h = out + (v6 ? 54 : 34);
			struct pkt p = packet(&spec);
			uint32_t got;

			e.mtu = mtus[i];
			answer(&p, build_icmp_error(&p, &e, out));
			got = sample_get16(h + 4) << 16 | sample_get16(h + 6);
			assert_int_equal(got, !v6 && mtus[i] > 65535 ? 65535 : mtus[i]);
		}
	}
}

// RFC 1122 3.2.2 and RFC 4443 2.4 (e).
static const struct silence {
	const char *name, *src, *dst;
	uint8_t proto;
	uint16_t type_code; // or a port
	uint16_t frag_off;
	bool frag, frag_more;
	uint8_t src_mac0, dst_mac0;
	bool answered;
} silences[] = {
	{"UDP", "10.0.0.1", "10.0.0.2", 17, 1, 0, false, false, 2, 2, true},
	{"TCP", "10.0.0.1", "10.0.0.2", 6, 1, 0, false, false, 2, 2, true},
	{"unknown protocol", "10.0.0.1", "10.0.0.2", 99, 0, 0, false, false, 2, 2, true},
	{"echo request", "10.0.0.1", "10.0.0.2", 1, 0x0800, 0, false, false, 2, 2, true},
	{"echo reply", "10.0.0.1", "10.0.0.2", 1, 0x0000, 0, false, false, 2, 2, true},
	{"timestamp", "10.0.0.1", "10.0.0.2", 1, 0x0d00, 0, false, false, 2, 2, true},
	{"unreachable", "10.0.0.1", "10.0.0.2", 1, 0x0303, 0, false, false, 2, 2, false},
	{"source quench", "10.0.0.1", "10.0.0.2", 1, 0x0400, 0, false, false, 2, 2, false},
	{"redirect", "10.0.0.1", "10.0.0.2", 1, 0x0500, 0, false, false, 2, 2, false},
	{"time exceeded", "10.0.0.1", "10.0.0.2", 1, 0x0b00, 0, false, false, 2, 2, false},
	{"parameter problem", "10.0.0.1", "10.0.0.2", 1, 0x0c00, 0, false, false, 2, 2, false},
	{"unknown ICMP", "10.0.0.1", "10.0.0.2", 1, 0xfd00, 0, false, false, 2, 2, false},
	{"first fragment", "10.0.0.1", "10.0.0.2", 17, 1, 0, true, true, 2, 2, true},
	{"later fragment", "10.0.0.1", "10.0.0.2", 17, 1, 48, true, true, 2, 2, false},
	{"last fragment", "10.0.0.1", "10.0.0.2", 17, 1, 48, true, false, 2, 2, false},
	{"to a group", "10.0.0.1", "224.0.0.1", 17, 1, 0, false, false, 2, 2, false},
	{"to all", "10.0.0.1", "255.255.255.255", 17, 1, 0, false, false, 2, 2, false},
	{"to a group's MAC", "10.0.0.1", "10.0.0.2", 17, 1, 0, false, false, 2, 1, false},
	{"to all MACs", "10.0.0.1", "10.0.0.2", 17, 1, 0, false, false, 2, 0xff, false},
	{"from nowhere", "0.0.0.0", "10.0.0.2", 17, 1, 0, false, false, 2, 2, false},
	{"from loopback", "127.0.0.1", "10.0.0.2", 17, 1, 0, false, false, 2, 2, false},
	{"from a group", "224.0.0.9", "10.0.0.2", 17, 1, 0, false, false, 2, 2, false},
	{"from all", "255.255.255.255", "10.0.0.2", 17, 1, 0, false, false, 2, 2, false},
	{"from a group's MAC", "10.0.0.1", "10.0.0.2", 17, 1, 0, false, false, 3, 2, false},
	{"UDP over IPv6", "fd00::1", "fd00::2", 17, 1, 0, false, false, 2, 2, true},
	{"echo over IPv6", "fd00::1", "fd00::2", 58, 0x8000, 0, false, false, 2, 2, true},
	{"unreachable over IPv6", "fd00::1", "fd00::2", 58, 0x0103, 0, false, false, 2, 2, false},
	{"too big over IPv6", "fd00::1", "fd00::2", 58, 0x0200, 0, false, false, 2, 2, false},
	{"unknown error over IPv6", "fd00::1", "fd00::2", 58, 0x6400, 0, false, false, 2, 2, false},
	{"redirect over IPv6", "fd00::1", "fd00::2", 58, 0x8900, 0, false, false, 2, 2, false},
	{"later fragment over IPv6", "fd00::1", "fd00::2", 17, 1, 48, true, true, 2, 2, false},
	{"to a group over IPv6", "fd00::1", "ff0e::1", 17, 1, 0, false, false, 2, 2, false},
	{"from nowhere over IPv6", "::", "fd00::2", 17, 1, 0, false, false, 2, 2, false},
	{"from a group over IPv6", "ff02::1", "fd00::2", 17, 1, 0, false, false, 2, 2, false},
};

static void check_silence(const struct silence *c, enum build_icmp kind)
{
	struct frame_spec spec = {
		.src_mac = sample_pod_mac,
		.dst_mac = sample_gw_mac,
		.src = c->src,
		.dst = c->dst,
		.proto = c->proto,
		.sport = c->type_code,
		.payload = 40,
		.frag_off = c->frag_off,
		.frag = c->frag,
		.frag_more = c->frag_more,
	};
	struct build_error e = error(strchr(c->src, ':') != NULL, kind);
	struct pkt p;

	spec.src_mac.b[0] = c->src_mac0;
	spec.dst_mac.b[0] = c->dst_mac0;
	p = packet(&spec);
	if ((build_icmp_error(&p, &e, out) != 0) != c->answered)
		fail_msg("%s, kind %d", c->name, kind);
}

static void test_who_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(silences); i++) {
		for (size_t j = 0; j < ARRAY_LEN(error_cases); j++)
			check_silence(&silences[i], error_cases[j].kind);
	}
}

// What we build ourselves is never an occasion for more.
static void test_no_error_about_our_error(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct frame_spec spec = sample_spec(v6, 17, 100);
		struct build_error e = error(v6, BUILD_PORT_UNREACHABLE);
		struct pkt p = packet(&spec), q;
		uint32_t len = build_icmp_error(&p, &e, out);

		assert_int_equal(sample_parse(out, len, &q), DROP_NONE);
		assert_int_equal(build_icmp_error(&q, &e, out), 0);
		assert_int_equal(build_echo_reply(&q, &sample_gw_mac, out), 0);
	}
}

static void test_source_of_other_family(void **state)
{
	struct frame_spec spec = sample_spec(false, 17, 100);
	struct build_error e = error(true, BUILD_TOO_BIG);
	struct pkt p = packet(&spec);

	(void)state;
	assert_int_equal(build_icmp_error(&p, &e, out), 0);
}

static void test_arp_gets_no_error(void **state)
{
	struct build_error e = error(false, BUILD_HOST_UNREACHABLE);
	uint32_t len =
		frame_arp(1, &sample_pod_mac, &sample_pod_mac, "10.0.0.1", "10.0.0.2", frame);
	struct pkt p;

	(void)state;
	assert_int_equal(sample_parse(frame, len, &p), DROP_NONE);
	assert_int_equal(build_icmp_error(&p, &e, out), 0);
	assert_int_equal(build_echo_reply(&p, &sample_gw_mac, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_echo_reply),
		cmocka_unit_test(test_echo_size_limit),
		cmocka_unit_test(test_echo_with_options),
		cmocka_unit_test(test_no_echo_reply),
		cmocka_unit_test(test_echo_with_wrong_sum),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_mtu_values),
		cmocka_unit_test(test_who_is_told),
		cmocka_unit_test(test_no_error_about_our_error),
		cmocka_unit_test(test_source_of_other_family),
		cmocka_unit_test(test_arp_gets_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
