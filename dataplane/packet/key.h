// SPDX-License-Identifier: Apache-2.0
// The flow key: everything a forwarding decision may depend on, packed and zero-padded, both
// families.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/ipaddr.h"

struct flow_key {
	struct ipaddr src, dst; // IPv4 as v4-mapped
	// Network order; 0 for portless protocols and for every fragment, the first included. ICMP
	// echo: sport = identifier, dport = 0. Other ICMP: type << 8 | code in dport.
	uint16_t sport, dport;
	uint16_t in_port; // port id, host order
	uint8_t proto;    // IP protocol
	uint8_t frag;     // 0 whole datagram, 1 first fragment, 2 later fragment
};
_Static_assert(sizeof(struct flow_key) == 40, "five 64-bit words, no padding");

#define KEY_WORDS 5

// One 64-bit word of a key. Loads of their own: copying a whole key into an array makes compilers
// go through the stack.
static inline uint64_t key_word(const struct flow_key *k, unsigned i)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)k + i * sizeof(word), sizeof(word));
	return word;
}

// Five word compares, no early exit on content: cost does not depend on the packet.
static inline bool key_is_equal(const struct flow_key *a, const struct flow_key *b)
{
	return ((key_word(a, 0) ^ key_word(b, 0)) | (key_word(a, 1) ^ key_word(b, 1)) |
		(key_word(a, 2) ^ key_word(b, 2)) | (key_word(a, 3) ^ key_word(b, 3)) |
		(key_word(a, 4) ^ key_word(b, 4))) == 0;
}

// Mixing hash with a seed drawn at start, so that pods cannot aim at one bucket.
// Defined here because it runs once per packet (multiply-xorshift on five words).
static inline uint32_t key_hash(const struct flow_key *k, uint64_t seed)
{
	uint64_t h = seed;

	for (unsigned i = 0; i < KEY_WORDS; i++) {
		h = (h ^ key_word(k, i)) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	h *= 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(h >> 32);
}
