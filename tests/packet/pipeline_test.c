// SPDX-License-Identifier: Apache-2.0
// Bytes in, bytes and drop counters out: the whole packet path of one worker without a thread.
#include "harness/cm.h"

#include <rte_mempool.h>
#include <stdlib.h>
#include <string.h>

#include "core/rcu.h"
#include "features/endpoint/endpoint.h"
#include "flow/flow.h"
#include "harness/frames.h"
#include "harness/world.h"

static struct world world;

enum { TCP = 6, UDP = 17, ICMP = 1, ICMP6 = 58, SCTP = 132 };
#define A4 "10.244.1.10"
#define B4 "10.244.1.11"
#define A6 "fd00:10:1::a"
#define B6 "fd00:10:1::b"
#define GW                                             \
	{                                              \
		{                                      \
			0x02, 'w', 'e', 'f', 't', 0x01 \
		}                                      \
	}
#define MAC_A                               \
	{                                   \
		{                           \
			2, 0, 0, 0, 1, 0x0a \
		}                           \
	}
#define MAC_B                               \
	{                                   \
		{                           \
			2, 0, 0, 0, 1, 0x0b \
		}                           \
	}
#define FROM_A .src_mac = MAC_A, .dst_mac = GW

struct row {
	const char *name;
	struct frame_spec spec;
	uint16_t in, out;        // out 0: nothing may leave by any port
	enum drop_reason reason; // DROP_NONE: forwarded or answered
	bool error;              // an ICMP error goes back to the sender besides the drop
};

static const struct row rows[] = {
	{"tcp v4 to pod",
	 {FROM_A, .src = A4, .dst = B4, .proto = TCP, .sport = 1000, .dport = 80, .payload = 10},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"tcp v6 to pod",
	 {FROM_A, .src = A6, .dst = B6, .proto = TCP, .sport = 1000, .dport = 80},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"udp v4 to pod",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .sport = 5, .dport = 53, .payload = 3},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"sctp v4 to pod",
	 {FROM_A, .src = A4, .dst = B4, .proto = SCTP, .payload = 40},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"unknown protocol to pod",
	 {FROM_A, .src = A4, .dst = B4, .proto = 99, .payload = 20},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"echo v6 to pod",
	 {FROM_A, .src = A6, .dst = B6, .proto = ICMP6, .sport = 128 << 8, .dport = 7,
	  .payload = 56},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"to the node v4",
	 {FROM_A, .src = A4, .dst = "192.0.2.11", .proto = TCP, .sport = 9, .dport = 10250},
	 WORLD_POD_A,
	 WORLD_HOST,
	 DROP_NONE,
	 false},
	{"to the node v6",
	 {FROM_A, .src = A6, .dst = "fd00:c0::11", .proto = TCP, .sport = 9, .dport = 10250},
	 WORLD_POD_A,
	 WORLD_HOST,
	 DROP_NONE,
	 false},
	{"from the node",
	 {.src_mac = {{2, 0, 0, 0, 0, 0x0f}},
	  .dst_mac = GW,
	  .src = "192.0.2.11",
	  .dst = A4,
	  .proto = TCP,
	  .sport = 9,
	  .dport = 80},
	 WORLD_HOST,
	 WORLD_POD_A,
	 DROP_NONE,
	 false},
	{"first fragment v4",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .sport = 5, .dport = 6, .payload = 32,
	  .frag_more = true},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"later fragment v4",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .payload = 16, .frag_off = 40},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"first fragment v6",
	 {FROM_A, .src = A6, .dst = B6, .proto = UDP, .sport = 5, .dport = 6, .payload = 32,
	  .frag = true, .frag_more = true},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"later fragment v6",
	 {FROM_A, .src = A6, .dst = B6, .proto = UDP, .payload = 16, .frag = true, .frag_off = 40},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"echo to gateway v4",
	 {FROM_A, .src = A4, .dst = "10.244.1.1", .proto = ICMP, .sport = 8 << 8, .dport = 3,
	  .payload = 56},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NONE,
	 false},
	{"echo to link-local gateway",
	 {FROM_A, .src = A4, .dst = "169.254.1.1", .proto = ICMP, .sport = 8 << 8, .dport = 3,
	  .payload = 56},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NONE,
	 false},
	{"echo to gateway v6",
	 {FROM_A, .src = A6, .dst = "fd00:10:1::1", .proto = ICMP6, .sport = 128 << 8, .dport = 3,
	  .payload = 56},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NONE,
	 false},
	{"tcp to gateway",
	 {FROM_A, .src = A4, .dst = "10.244.1.1", .proto = TCP, .dport = 80},
	 WORLD_POD_A,
	 0,
	 DROP_GATEWAY_IGNORED,
	 false},
	{"ttl 1 v4",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .sport = 5, .dport = 53, .ttl = 1,
	  .payload = 40},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_TTL,
	 true},
	{"hop limit 1 v6",
	 {FROM_A, .src = A6, .dst = B6, .proto = UDP, .sport = 5, .dport = 53, .ttl = 1,
	  .payload = 40},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_TTL,
	 true},
	{"no endpoint v4",
	 {FROM_A, .src = A4, .dst = "10.244.1.99", .proto = TCP, .dport = 80},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NO_ENDPOINT,
	 true},
	{"no endpoint v6",
	 {FROM_A, .src = A6, .dst = "fd00:10:1::99", .proto = TCP, .dport = 80},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NO_ENDPOINT,
	 true},
	{"no route v4",
	 {FROM_A, .src = A4, .dst = "198.51.100.7", .proto = TCP, .dport = 80},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NO_ROUTE,
	 true},
	{"no route v6",
	 {FROM_A, .src = A6, .dst = "2001:db8::7", .proto = TCP, .dport = 80},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_NO_ROUTE,
	 true},
	{"too big with DF",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .dport = 9, .payload = 1450,
	  .dont_fragment = true},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_TOO_BIG,
	 true},
	{"too big v6",
	 {FROM_A, .src = A6, .dst = B6, .proto = UDP, .dport = 9, .payload = 1450},
	 WORLD_POD_A,
	 WORLD_POD_A,
	 DROP_TOO_BIG,
	 true},
	{"too big, may be fragmented",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .dport = 9, .payload = 1450},
	 WORLD_POD_A,
	 0,
	 DROP_TOO_BIG,
	 false},
	{"exactly the MTU",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .dport = 9, .payload = 1422,
	  .dont_fragment = true},
	 WORLD_POD_A,
	 WORLD_POD_B,
	 DROP_NONE,
	 false},
	{"multicast v4",
	 {.src_mac = MAC_A,
	  .dst_mac = {{1, 0, 0x5e, 0, 0, 0xfb}},
	  .src = A4,
	  .dst = "224.0.0.251",
	  .proto = UDP,
	  .dport = 5353},
	 WORLD_POD_A,
	 0,
	 DROP_MULTICAST,
	 false},
	{"multicast by unicast MAC",
	 {FROM_A, .src = A6, .dst = "ff02::fb", .proto = UDP, .dport = 5353},
	 WORLD_POD_A,
	 0,
	 DROP_MULTICAST,
	 false},
	{"loopback destination",
	 {FROM_A, .src = A4, .dst = "127.0.0.1", .proto = TCP, .dport = 1},
	 WORLD_POD_A,
	 0,
	 DROP_DST_INVALID,
	 false},
	{"reserved destination",
	 {FROM_A, .src = A4, .dst = "240.0.0.1", .proto = TCP, .dport = 1},
	 WORLD_POD_A,
	 0,
	 DROP_DST_INVALID,
	 false},
	{"link-local destination",
	 {FROM_A, .src = A6, .dst = "fe80::2", .proto = TCP, .dport = 1},
	 WORLD_POD_A,
	 0,
	 DROP_DST_INVALID,
	 false},
	{"unspecified destination",
	 {FROM_A, .src = A6, .dst = "::", .proto = TCP, .dport = 1},
	 WORLD_POD_A,
	 0,
	 DROP_DST_INVALID,
	 false},
	{"other pod's MAC as destination",
	 {.src_mac = MAC_A, .dst_mac = MAC_B, .src = A4, .dst = B4, .proto = TCP, .dport = 1},
	 WORLD_POD_A,
	 0,
	 DROP_NOT_GATEWAY_MAC,
	 false},
	{"forged source MAC",
	 {.src_mac = MAC_B, .dst_mac = GW, .src = A4, .dst = B4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_MAC,
	 false},
	{"other pod's address",
	 {FROM_A, .src = B4, .dst = "192.0.2.11", .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"foreign v6 source",
	 {FROM_A, .src = "2001:db8::1", .dst = B6, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"loopback source",
	 {FROM_A, .src = "127.0.0.1", .dst = B4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"node address as source",
	 {FROM_A, .src = "192.0.2.11", .dst = B4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"gateway as source",
	 {FROM_A, .src = "10.244.1.1", .dst = B4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"multicast source",
	 {FROM_A, .src = "224.0.0.1", .dst = B4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"broadcast source",
	 {FROM_A, .src = "255.255.255.255", .dst = B4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"unspecified source",
	 {FROM_A, .src = "0.0.0.0", .dst = B4, .proto = UDP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"link-local source to a pod",
	 {FROM_A, .src = "fe80::1234", .dst = B6, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SRC_IP,
	 false},
	{"group report from link-local",
	 {.src_mac = MAC_A,
	  .dst_mac = {{0x33, 0x33, 0, 0, 0, 0x16}},
	  .src = "fe80::1234",
	  .dst = "ff02::16",
	  .proto = ICMP6,
	  .sport = 143 << 8,
	  .payload = 20},
	 WORLD_POD_A,
	 0,
	 DROP_MULTICAST,
	 false},
	{"source is destination",
	 {FROM_A, .src = A4, .dst = A4, .proto = TCP},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_SELF,
	 false},
	{"vxlan to a node",
	 {FROM_A, .src = A4, .dst = "192.0.2.12", .proto = UDP, .sport = 40000, .dport = 4789,
	  .payload = 50},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_TUNNEL,
	 false},
	{"vxlan in a first fragment",
	 {FROM_A, .src = A4, .dst = B4, .proto = UDP, .sport = 40000, .dport = 4789, .payload = 48,
	  .frag_more = true},
	 WORLD_POD_A,
	 0,
	 DROP_GUARD_TUNNEL,
	 false},
	{"unknown port",
	 {FROM_A, .src = A4, .dst = B4, .proto = TCP},
	 9,
	 0,
	 DROP_RX_UNKNOWN_PORT,
	 false},
};

static void drain(void)
{
	for (uint16_t id = 1; id <= 3; id++) {
		struct mem_frame *f;
		while ((f = world_take(&world, id)))
			free(f);
	}
}

static void check_rewrite(const struct row *row, const struct mem_frame *f, const uint8_t *sent)
{
	const struct macaddr *macs[] = {NULL, &world_mac_a, &world_mac_b, &world_mac_host};
	bool v6 = f->data[12] == 0x86;
	assert_memory_equal(f->data, macs[row->out]->b, 6);
	assert_memory_equal(f->data + 6, gateway_mac.b, 6);
	if (row->out != row->in) // forwarded: one hop
		assert_int_equal(f->data[v6 ? 21 : 22], sent[v6 ? 21 : 22] - 1);
	if (!row->spec.frag && !row->spec.frag_more && !row->spec.frag_off)
		assert_true(frame_sums_ok(f->data, f->len));
}

static void run_row(const struct row *row)
{
	static uint8_t frame[FRAME_MAX];
	uint16_t counted = row->in < 4 ? row->in : 9;
	uint32_t len = frame_build(&row->spec, frame);
	uint64_t before = atomic_load(&world.c->port[counted].drops[row->reason]);

	drain();
	world.now_ns += 1000000000;
	for (int pass = 0; pass < 2; pass++) { // a miss, then the cached decision
		world_send(&world, row->in, frame, len, NULL);
		uint64_t after = atomic_load(&world.c->port[counted].drops[row->reason]);
		if (row->reason != DROP_NONE && after != before + 1)
			fail_msg("%s (pass %d): drop %s not counted", row->name, pass,
				 drop_table[row->reason].name);
		before = after;
		for (uint16_t id = 1; id <= 3; id++) {
			struct mem_frame *f = world_take(&world, id);
			if ((f != NULL) != (id == row->out))
				fail_msg("%s (pass %d): port %u %s", row->name, pass, id,
					 f ? "sent a frame" : "sent nothing");
			if (f)
				check_rewrite(row, f, frame);
			free(f);
		}
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run_row(&rows[i]);
}

struct arp_row {
	const char *name;
	uint16_t op;
	struct macaddr src, sender_mac;
	const char *sender, *target;
	bool answered;
	enum drop_reason reason;
};

static const struct arp_row arp_rows[] = {
	{"probe of own address", 1, MAC_A, MAC_A, "0.0.0.0", A4, false, DROP_GATEWAY_IGNORED},
	{"announcement", 1, MAC_A, MAC_A, A4, A4, false, DROP_GATEWAY_IGNORED},
	{"gateway", 1, MAC_A, MAC_A, A4, "10.244.1.1", true, DROP_NONE},
	{"link-local gateway", 1, MAC_A, MAC_A, A4, "169.254.1.1", true, DROP_NONE},
	{"other pod", 1, MAC_A, MAC_A, A4, B4, false, DROP_GATEWAY_IGNORED},
	{"reply nobody asked for", 2, MAC_A, MAC_A, A4, "10.244.1.1", false, DROP_GATEWAY_IGNORED},
	{"reply for another address", 2, MAC_A, MAC_A, B4, "10.244.1.1", false, DROP_GUARD_ARP},
	{"sender MAC of another", 1, MAC_A, MAC_B, A4, "10.244.1.1", false, DROP_GUARD_ARP},
	{"frame source of another", 1, MAC_B, MAC_A, A4, "10.244.1.1", false, DROP_GUARD_SRC_MAC},
	{"operation 0", 0, MAC_A, MAC_A, A4, "10.244.1.1", false, DROP_PARSE_ARP},
	{"operation 8", 8, MAC_A, MAC_A, A4, "10.244.1.1", false, DROP_PARSE_ARP},
};

static void test_arp(void **state)
{
	(void)state;
	uint8_t frame[64];
	for (size_t i = 0; i < sizeof(arp_rows) / sizeof(arp_rows[0]); i++) {
		const struct arp_row *r = &arp_rows[i];
		uint32_t len =
			frame_arp(r->op, &r->src, &r->sender_mac, r->sender, r->target, frame);
		uint64_t before = world_drops(&world, WORLD_POD_A, r->reason);
		drain();
		world_send(&world, WORLD_POD_A, frame, len, NULL);
		struct mem_frame *f = world_take(&world, WORLD_POD_A);
		if ((f != NULL) != r->answered)
			fail_msg("%s: %s", r->name, f ? "answered" : "no answer");
		if (f) {
			assert_memory_equal(f->data, world_mac_a.b, 6);
			assert_memory_equal(f->data + 22, gateway_mac.b, 6); // sender MAC
			assert_memory_equal(f->data + 28, frame + 38, 4); // sender = target asked
		} else if (world_drops(&world, WORLD_POD_A, r->reason) != before + 1) {
			fail_msg("%s: not counted as %s", r->name, drop_table[r->reason].name);
		}
		free(f);
	}
}

static void test_nd(void **state)
{
	(void)state;
	static const struct {
		const char *name, *src, *target;
		uint8_t type;
		struct macaddr link;
		bool answered;
		enum drop_reason reason;
	} nd[] = {
		{"gateway", A6, "fd00:10:1::1", 135, MAC_A, true, DROP_NONE},
		{"link-local gateway", "fe80::42", "fe80::1", 135, MAC_A, true, DROP_NONE},
		{"own address", A6, A6, 135, MAC_A, false, DROP_GATEWAY_IGNORED},
		{"other pod", A6, B6, 135, MAC_A, false, DROP_GATEWAY_IGNORED},
		{"other pod's source", B6, "fe80::1", 135, MAC_A, false, DROP_GUARD_ND},
		{"option of another", A6, "fe80::1", 135, MAC_B, false, DROP_GUARD_ND},
		{"advertises another pod", A6, B6, 136, MAC_A, false, DROP_GUARD_ND},
		{"advertises the gateway", A6, "fd00:10:1::1", 136, MAC_A, false, DROP_GUARD_ND},
		{"advertises itself", A6, A6, 136, MAC_A, false, DROP_GATEWAY_IGNORED},
	};
	uint8_t frame[128];
	for (size_t i = 0; i < sizeof(nd) / sizeof(nd[0]); i++) {
		uint32_t len = frame_nd(nd[i].type, &world_mac_a, nd[i].src, nd[i].target,
					&nd[i].link, frame);
		uint64_t before = world_drops(&world, WORLD_POD_A, nd[i].reason);
		drain();
		world_send(&world, WORLD_POD_A, frame, len, NULL);
		struct mem_frame *f = world_take(&world, WORLD_POD_A);
		if ((f != NULL) != nd[i].answered)
			fail_msg("%s: %s", nd[i].name, f ? "answered" : "no answer");
		if (f)
			assert_true(frame_sums_ok(f->data, f->len));
		else if (world_drops(&world, WORLD_POD_A, nd[i].reason) != before + 1)
			fail_msg("%s: not counted as %s", nd[i].name,
				 drop_table[nd[i].reason].name);
		free(f);
	}
}

// A frame padded by the sender, or by the wire, leaves cut to its IP length (RFC 894).
static void test_padding_is_cut(void **state)
{
	(void)state;
	uint8_t frame[128];
	struct frame_spec s = {FROM_A, .src = A4, .dst = B4, .proto = TCP, .sport = 1, .dport = 2};
	uint32_t len = frame_build(&s, frame);
	memset(frame + len, 0xee, 6);
	drain();
	world_send(&world, WORLD_POD_A, frame, len + 6, NULL);
	struct mem_frame *f = world_take(&world, WORLD_POD_B);
	assert_non_null(f);
	assert_int_equal(f->len, len);
	free(f);
}

// Partial checksums and GSO frames travel whole, with a header that the receiving stack accepts.
static void test_offload_travels(void **state)
{
	(void)state;
	static uint8_t frame[FRAME_MAX];
	struct frame_spec s = {FROM_A,     .src = A4,  .dst = B4,       .proto = TCP,
			       .sport = 1, .dport = 2, .payload = 20000};
	struct vnet_hdr v = {.flags = VNET_F_NEEDS_CSUM,
			     .gso_type = VNET_GSO_TCPV4 | VNET_GSO_ECN,
			     .hdr_len = 9999,
			     .gso_size = 1398,
			     .csum_start = 34,
			     .csum_offset = 16};
	uint32_t len = frame_build(&s, frame);
	drain();
	world_send(&world, WORLD_POD_A, frame, len, &v);
	struct mem_frame *f = world_take(&world, WORLD_POD_B);
	assert_non_null(f);
	assert_int_equal(f->len, len);
	assert_int_equal(f->vnet.gso_type, VNET_GSO_TCPV4 | VNET_GSO_ECN);
	assert_int_equal(f->vnet.gso_size, 1398);
	assert_int_equal(f->vnet.hdr_len, 54);
	assert_int_equal(f->vnet.flags, VNET_F_NEEDS_CSUM);
	free(f);

	v.gso_size = 1430; // a segment of 1470 bytes does not fit 1450
	drain();
	world_send(&world, WORLD_POD_A, frame, len, &v);
	assert_null(world_take(&world, WORLD_POD_B));
}

// The checksum would be written over the destination port after the verdict.
static void test_forged_checksum_offset(void **state)
{
	(void)state;
	uint8_t frame[128];
	struct frame_spec s = {FROM_A, .src = A4, .dst = B4, .proto = TCP, .sport = 1, .dport = 2};
	struct vnet_hdr v = {.flags = VNET_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 2};
	uint32_t len = frame_build(&s, frame);
	uint64_t before = world_drops(&world, WORLD_POD_A, DROP_VNET_BAD_CSUM);
	drain();
	world_send(&world, WORLD_POD_A, frame, len, &v);
	assert_null(world_take(&world, WORLD_POD_B));
	assert_int_equal(world_drops(&world, WORLD_POD_A, DROP_VNET_BAD_CSUM), before + 1);
}

// ICMP errors are limited per port; every frame is still counted as a drop.
static void test_error_rate_limit(void **state)
{
	(void)state;
	uint8_t frame[128];
	struct frame_spec s = {FROM_A, .src = A4, .dst = "198.51.100.7", .proto = UDP, .dport = 9};
	uint32_t len = frame_build(&s, frame);
	uint64_t before = world_drops(&world, WORLD_POD_A, DROP_NO_ROUTE);
	unsigned errors = 0;
	world.now_ns += 10000000000;
	drain();
	for (int i = 0; i < 1000; i++)
		world_send(&world, WORLD_POD_A, frame, len, NULL);
	for (struct mem_frame *f; (f = world_take(&world, WORLD_POD_A)); errors++)
		free(f);
	assert_int_equal(errors, 50);
	assert_int_equal(world_drops(&world, WORLD_POD_A, DROP_NO_ROUTE), before + 1000);
	world.now_ns += 100000000; // a tenth of a second later: ten more
	for (int i = 0; i < 1000; i++)
		world_send(&world, WORLD_POD_A, frame, len, NULL);
	for (errors = 0; (errors < 2000); errors++) {
		struct mem_frame *f = world_take(&world, WORLD_POD_A);
		if (!f)
			break;
		free(f);
	}
	assert_int_equal(errors, 10);
}

// A cached decision ends with the commit that changes it: the very next packet sees the new one.
static void test_change_counts_at_once(void **state)
{
	(void)state;
	uint8_t frame[128];
	struct frame_spec s = {FROM_A, .src = A4, .dst = B4, .proto = UDP, .sport = 77, .dport = 9};
	uint32_t len = frame_build(&s, frame);
	for (int i = 0; i < 3; i++) {
		drain();
		world_send(&world, WORLD_POD_A, frame, len, NULL);
		struct mem_frame *f = world_take(&world, WORLD_POD_B);
		assert_non_null(f);
		free(f);
		endpoint_del(world.port[WORLD_POD_B]);
		flow_commit();
		world_send(&world, WORLD_POD_A, frame, len, NULL);
		assert_null(world_take(&world, WORLD_POD_B));
		assert_int_equal(endpoint_add(world.port[WORLD_POD_B], "pod/t/b"), 0);
		flow_commit();
	}
}

static void test_inactive_port(void **state)
{
	(void)state;
	uint8_t frame[128];
	struct frame_spec s = {FROM_A, .src = A4, .dst = B4, .proto = UDP, .dport = 9};
	uint32_t len = frame_build(&s, frame);
	uint64_t before = world_drops(&world, WORLD_POD_A, DROP_PORT_NOT_ACTIVE);
	drain();
	atomic_store(&world.port[WORLD_POD_A]->active, false);
	world_send(&world, WORLD_POD_A, frame, len, NULL);
	atomic_store(&world.port[WORLD_POD_A]->active, true);
	assert_null(world_take(&world, WORLD_POD_B));
	assert_int_equal(world_drops(&world, WORLD_POD_A, DROP_PORT_NOT_ACTIVE), before + 1);
}

// Packets of one flow keep their order although some are hits and some are misses.
static void test_order_is_kept(void **state)
{
	(void)state;
	enum { N = 64 };
	static uint8_t mem[N][PKT_HEADROOM + 128];
	struct pkt pkts[N];
	struct frame_spec s = {FROM_A,       .src = A4,   .dst = B4,
			       .proto = UDP, .sport = 99, .payload = 2};
	drain();
	for (int i = 0; i < N; i++) {
		s.dport = (uint16_t)(i % 3 ? 4000 : 5000 + i); // every third packet is a new flow
		uint32_t len = frame_build(&s, mem[i] + PKT_HEADROOM);
		mem[i][PKT_HEADROOM + 42] = (uint8_t)i;
		mem[i][PKT_HEADROOM + 40] = mem[i][PKT_HEADROOM + 41] = 0; // no UDP checksum
		pkts[i] = (struct pkt){
			.data = mem[i] + PKT_HEADROOM, .len = len, .in_port = WORLD_POD_A};
	}
	pipeline_run(world.pl, pkts, N, world.now_ns);
	pipeline_flush(world.pl);
	assert_int_equal(pipeline_pending(world.pl), 0);
	for (int i = 0; i < N; i++) {
		struct mem_frame *f = world_take(&world, WORLD_POD_B);
		assert_non_null(f);
		assert_int_equal(f->data[42], i);
		free(f);
	}
}

// What came in went out or was counted, also when a port refuses; and no answer buffer leaks.
static void test_conservation(void **state)
{
	(void)state;
	static uint8_t frame[FRAME_MAX];
	unsigned free_before = rte_mempool_avail_count(world.pool);
	uint64_t drops = world_drops_all(&world), in = 0, out = 0;
	unsigned seed = 7;
	drain();
	for (int i = 0; i < 2000; i++) {
		const struct row *row = &rows[(seed = seed * 1103515245u + 12345u) / 65536u %
					      (sizeof(rows) / sizeof(rows[0]))];
		if (row->in > 3 || row->error)
			continue;
		if (i % 50 == 0)
			mem_port_refuse(world.port[WORLD_POD_B], 3);
		uint32_t len = frame_build(&row->spec, frame);
		world_send(&world, row->in, frame, len, NULL);
		in++;
		for (uint16_t id = 1; id <= 3; id++) {
			for (struct mem_frame *f; (f = world_take(&world, id)); out++)
				free(f);
		}
	}
	assert_int_equal(in, out + world_drops_all(&world) - drops);
	assert_int_equal(rte_mempool_avail_count(world.pool), free_before);
}

static int setup(void **state)
{
	(void)state;
	return world_start(&world);
}

static int teardown(void **state)
{
	(void)state;
	drain();
	world_stop(&world);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_arp),
		cmocka_unit_test(test_nd),
		cmocka_unit_test(test_padding_is_cut),
		cmocka_unit_test(test_offload_travels),
		cmocka_unit_test(test_forged_checksum_offset),
		cmocka_unit_test(test_error_rate_limit),
		cmocka_unit_test(test_change_counts_at_once),
		cmocka_unit_test(test_inactive_port),
		cmocka_unit_test(test_order_is_kept),
		cmocka_unit_test(test_conservation),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
