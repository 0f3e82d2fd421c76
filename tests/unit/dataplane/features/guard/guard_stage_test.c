// SPDX-License-Identifier: Apache-2.0
// 40 ways to be somebody else, and the few ways to be oneself.
#include "harness/cm.h"

#include <string.h>

#include "features/guard/guard.h"
#include "harness/frames.h"
#include "packet/parse.h"

#define OWN                                 \
	{                                   \
		{                           \
			2, 0, 0, 0, 1, 0x0a \
		}                           \
	}
#define OTHER                               \
	{                                   \
		{                           \
			2, 0, 0, 0, 1, 0x0b \
		}                           \
	}
#define GW                                             \
	{                                              \
		{                                      \
			0x02, 'w', 'e', 'f', 't', 0x01 \
		}                                      \
	}

enum { TCP = 6, UDP = 17, ICMP = 1 };

static struct port pod = {.id = 1, .kind = PORT_KIND_POD, .mac = OWN, .addr_count = 2};

static enum drop_reason check(const struct port *port, uint8_t *frame, uint32_t len)
{
	struct pkt p = {.data = frame, .len = len, .in_port = 1};
	assert_int_equal(parse_frame(&p), DROP_NONE);
	return guard_check(port, &p);
}

static void test_sources(void **state)
{
	(void)state;
	static const struct {
		const char *src;
		enum drop_reason reason;
	} rows[] = {
		{"10.244.1.10", DROP_NONE},          {"10.244.1.11", DROP_GUARD_SRC_IP},
		{"10.244.1.1", DROP_GUARD_SRC_IP},   {"10.244.1.0", DROP_GUARD_SRC_IP},
		{"10.244.1.255", DROP_GUARD_SRC_IP}, {"10.96.0.1", DROP_GUARD_SRC_IP},
		{"192.0.2.11", DROP_GUARD_SRC_IP},   {"127.0.0.1", DROP_GUARD_SRC_IP},
		{"0.0.0.0", DROP_GUARD_SRC_IP},      {"255.255.255.255", DROP_GUARD_SRC_IP},
		{"224.0.0.5", DROP_GUARD_SRC_IP},    {"240.0.0.1", DROP_GUARD_SRC_IP},
		{"169.254.1.1", DROP_GUARD_SRC_IP},  {"169.254.7.7", DROP_GUARD_SRC_IP},
		{"8.8.8.8", DROP_GUARD_SRC_IP},      {"fd00:10:1::a", DROP_NONE},
		{"fd00:10:1::b", DROP_GUARD_SRC_IP}, {"fd00:10:1::1", DROP_GUARD_SRC_IP},
		{"::1", DROP_GUARD_SRC_IP},          {"::", DROP_GUARD_SRC_IP},
		{"fe80::1", DROP_GUARD_SRC_IP},      {"fe80::a", DROP_GUARD_SRC_IP},
		{"ff02::1", DROP_GUARD_SRC_IP},      {"2001:db8::1", DROP_GUARD_SRC_IP},
	};
	uint8_t frame[256];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame_spec s = {.src_mac = OWN,
				       .dst_mac = GW,
				       .src = rows[i].src,
				       .dst = strchr(rows[i].src, ':') ? "fd00:1::9" : "10.9.9.9",
				       .proto = TCP,
				       .dport = 80};
		uint32_t len = frame_build(&s, frame);
		if (check(&pod, frame, len) != rows[i].reason)
			fail_msg("source %s", rows[i].src);
		s.src_mac = (struct macaddr)OTHER; // own address with another's MAC
		len = frame_build(&s, frame);
		assert_int_equal(check(&pod, frame, len), DROP_GUARD_SRC_MAC);
		s.src_mac = (struct macaddr)GW; // the gateway's MAC
		len = frame_build(&s, frame);
		assert_int_equal(check(&pod, frame, len), DROP_GUARD_SRC_MAC);
	}
}

// IPv4 written as a v4-mapped IPv6 source must not pass for the pod's IPv4 address.
static void test_v4_mapped_source(void **state)
{
	(void)state;
	uint8_t frame[256];
	struct frame_spec s = {.src_mac = OWN,
			       .dst_mac = GW,
			       .src = "::ffff:10.244.1.10",
			       .dst = "fd00:1::9",
			       .proto = TCP};
	uint32_t len = frame_build(&s, frame);
	struct pkt p = {.data = frame, .len = len, .in_port = 1};
	assert_true(parse_frame(&p) != DROP_NONE || guard_check(&pod, &p) != DROP_NONE);
}

static void test_tunnel_port(void **state)
{
	(void)state;
	uint8_t frame[256];
	struct frame_spec s = {.src_mac = OWN,
			       .dst_mac = GW,
			       .src = "10.244.1.10",
			       .dst = "10.9.9.9",
			       .proto = UDP,
			       .sport = 1,
			       .dport = 4789,
			       .payload = 8};
	uint32_t len = frame_build(&s, frame);
	assert_int_equal(check(&pod, frame, len), DROP_GUARD_TUNNEL);
	guard_set_tunnel_port(8472);
	assert_int_equal(check(&pod, frame, len), DROP_NONE);
	guard_set_tunnel_port(4789);
	s.proto = TCP; // the port number alone is no tunnel
	len = frame_build(&s, frame);
	assert_int_equal(check(&pod, frame, len), DROP_NONE);
}

static void test_host_is_trusted(void **state)
{
	(void)state;
	uint8_t frame[256];
	const struct port host = {.id = 2, .kind = PORT_KIND_HOST};
	struct frame_spec s = {.src_mac = OTHER,
			       .dst_mac = GW,
			       .src = "192.0.2.11",
			       .dst = "10.244.1.10",
			       .proto = TCP};
	uint32_t len = frame_build(&s, frame);
	assert_int_equal(check(&host, frame, len), DROP_NONE);
}

static void test_port_without_addresses(void **state)
{
	(void)state;
	uint8_t frame[256];
	const struct port bare = {.id = 2, .kind = PORT_KIND_POD, .mac = OWN};
	struct frame_spec s = {.src_mac = OWN,
			       .dst_mac = GW,
			       .src = "10.244.1.10",
			       .dst = "10.9.9.9",
			       .proto = TCP};
	uint32_t len = frame_build(&s, frame);
	assert_int_equal(check(&bare, frame, len), DROP_GUARD_SRC_IP);
}

static int setup(void **state)
{
	(void)state;
	return ipaddr_parse("10.244.1.10", &pod.addrs[0]) |
	       ipaddr_parse("fd00:10:1::a", &pod.addrs[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_v4_mapped_source),
		cmocka_unit_test(test_tunnel_port),
		cmocka_unit_test(test_host_is_trusted),
		cmocka_unit_test(test_port_without_addresses),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
