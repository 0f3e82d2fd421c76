// SPDX-License-Identifier: Apache-2.0
// Internet checksums (RFC 1071, RFC 1624). Values are in network order as they stand in the packet.
// Pure functions, any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet/pkt.h"

// One's complement sum (not inverted) over size bytes, odd sizes padded with zero, plus start.
uint32_t csum_partial(const void *data, size_t size, uint32_t start);
// Folds to 16 bits and inverts.
uint16_t csum_finish(uint32_t sum);
// Sum over the pseudo header of either family; l4_len in bytes, host order.
uint32_t csum_pseudo(const struct ipaddr *src, const struct ipaddr *dst, uint8_t proto,
		     uint32_t l4_len);
// IPv4 header checksum over header bytes (20..60); the field itself counts as zero.
uint16_t csum_ipv4(const void *header, size_t size);
// RFC 1624 eqn. 3: field after one 16-bit word changed from old to new.
uint16_t csum_update16(uint16_t field, uint16_t old_word, uint16_t new_word);
// TTL - 1 in an IPv4 header at h with its checksum; hop limit - 1 in an IPv6 header.
void csum_dec_ttl(uint8_t *h, bool is_v4);
// Full TCP/UDP/ICMP/ICMPv6 checksum of a parsed, unfragmented packet: what the field should hold.
uint16_t csum_l4(const struct pkt *p);
// Finishes a partial checksum in place (vnet NEEDS_CSUM without GSO) and clears the flag.
void csum_complete(struct pkt *p);
