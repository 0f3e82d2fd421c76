// SPDX-License-Identifier: Apache-2.0
// Frames and buffers for the packet tests. A frame lies so that the byte behind it cannot be read.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/cm.h"
#include "harness/frames.h"
#include "packet/parse.h"

#define SAMPLE_PORT 7
#define SAMPLE_MAP (32 * 4096)
#define SAMPLE_PAGE 4096

static const struct macaddr sample_pod_mac = {{2, 0, 0, 0, 1, 0x0a}};
static const struct macaddr sample_gw_mac = {{2, 0, 0, 0, 1, 1}};

// A copy of the frame that ends at an unreadable page; the place is the same for every call.
static inline struct pkt sample_pkt(const uint8_t *frame, uint32_t len)
{
	static uint8_t *map;

	if (map == NULL) {
		map = mmap(NULL, SAMPLE_MAP + SAMPLE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(map, MAP_FAILED);
		assert_int_equal(mprotect(map + SAMPLE_MAP, SAMPLE_PAGE, PROT_NONE), 0);
	}
	memcpy(map + SAMPLE_MAP - len, frame, len);
	return (struct pkt){.data = map + SAMPLE_MAP - len, .len = len, .in_port = SAMPLE_PORT};
}

// A spec between the test's pod and another one.
static inline struct frame_spec sample_spec(bool v6, uint8_t proto, uint16_t payload)
{
	return (struct frame_spec){
		.src_mac = sample_pod_mac,
		.dst_mac = sample_gw_mac,
		.src = v6 ? "fd00:10:1::a" : "10.244.1.10",
		.dst = v6 ? "fd00:10:2::14" : "10.244.2.20",
		.proto = proto,
		.sport = proto == 1    ? 8 << 8
			 : proto == 58 ? 128 << 8
				       : 40001,
		.dport = 8080,
		.payload = payload,
	};
}

static inline void sample_put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static inline uint32_t sample_get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

// Byte by byte, as RFC 1071 says; big-endian words.
static inline uint32_t sample_sum(const uint8_t *at, uint32_t size, uint32_t sum)
{
	for (uint32_t i = 0; i < size; i++)
		sum += i & 1 ? at[i] : (uint32_t)at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

// Makes the IPv4 header checksum right again.
static inline void sample_fix_ipv4(uint8_t *frame)
{
	uint8_t *h = frame + 14;

	sample_put16(h + 10, 0);
	sample_put16(h + 10, ~sample_sum(h, (h[0] & 15u) * 4, 0) & 0xffff);
}

// Puts size bytes of IPv4 options (a multiple of 4) behind the header; the new frame length.
static inline uint32_t sample_add_options(uint8_t *frame, uint32_t len, const uint8_t *options,
					  uint32_t size)
{
	memmove(frame + 34 + size, frame + 34, len - 34);
	memcpy(frame + 34, options, size);
	frame[14] = (uint8_t)(0x40 | (5 + size / 4));
	sample_put16(frame + 16, sample_get16(frame + 16) + size);
	sample_fix_ipv4(frame);
	return len + size;
}

// Puts an IPv6 extension header of type and size bytes right behind the IPv6 header.
static inline uint32_t sample_add_extension(uint8_t *frame, uint32_t len, uint8_t type,
					    uint32_t size)
{
	uint8_t *h = frame + 54;

	memmove(h + size, h, len - 54);
	memset(h, 0, size);
	h[0] = frame[20];
	h[1] = (uint8_t)(type == 51 ? size / 4 - 2 : type == 44 ? 0 : size / 8 - 1);
	if (type == 43)
		h[2] = 4;
	frame[20] = type;
	sample_put16(frame + 18, sample_get16(frame + 18) + size);
	return len + size;
}

// Parses a copy at the guard page.
static inline enum drop_reason sample_parse(const uint8_t *frame, uint32_t len, struct pkt *ret)
{
	*ret = sample_pkt(frame, len);
	return parse_frame(ret);
}
