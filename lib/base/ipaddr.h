// SPDX-License-Identifier: Apache-2.0
// One address type for both families, prefixes, and MAC addresses. Pure functions.
//
// An address is always 16 bytes in network order; IPv4 is stored v4-mapped (::ffff:a.b.c.d, RFC
// 4291 2.5.5.2), so that one comparison and one hash serve both families. Text never shows the
// mapped form: parsing "::ffff:1.2.3.4" is refused.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct ipaddr {
	uint8_t b[16]; // network order
};

struct ipprefix {
	struct ipaddr addr; // host bits may be set; see ipprefix_mask
	uint8_t len;        // bits of the family: 0..32 for IPv4, 0..128 for IPv6
};

struct macaddr {
	uint8_t b[6];
};

#define IPADDR_TEXT_MAX 46   // with NUL (INET6_ADDRSTRLEN)
#define IPPREFIX_TEXT_MAX 50 // with NUL
#define MACADDR_TEXT_MAX 18  // with NUL

// Strict text forms (inet_pton): no leading zeros, no zone. 0 or -EINVAL.
int ipaddr_parse(const char *text, struct ipaddr *ret_addr);
// "ADDR/LEN", or a bare address as a host prefix. Host bits are kept. 0 or -EINVAL.
int ipprefix_parse(const char *text, struct ipprefix *ret_prefix);
// "aa:bb:cc:dd:ee:ff". 0 or -EINVAL.
int macaddr_parse(const char *text, struct macaddr *ret_mac);
// Write into out (sizes above) and return out.
const char *ipaddr_format(const struct ipaddr *a, char out[IPADDR_TEXT_MAX]);
const char *ipprefix_format(const struct ipprefix *p, char out[IPPREFIX_TEXT_MAX]);
const char *macaddr_format(const struct macaddr *m, char out[MACADDR_TEXT_MAX]);

struct ipaddr ipaddr_from_v4(uint32_t be_addr); // be_addr in network order
struct ipaddr ipaddr_from_v6(const void *bytes16);
bool ipaddr_is_v4(const struct ipaddr *a);
uint32_t ipaddr_v4(const struct ipaddr *a); // network order; only for v4
bool ipaddr_is_equal(const struct ipaddr *a, const struct ipaddr *b);
int ipaddr_compare(const struct ipaddr *a, const struct ipaddr *b); // memcmp order
// No address of one pod or node: unspecified, multicast, v4 broadcast, loopback, 0/8, v4-mapped v6.
bool ipaddr_is_unicast(const struct ipaddr *a);
bool ipaddr_is_link_local(const struct ipaddr *a); // 169.254/16, fe80::/10
// Network address of the prefix (host bits cleared).
struct ipaddr ipprefix_mask(const struct ipprefix *p);
bool ipprefix_has(const struct ipprefix *p, const struct ipaddr *a); // same family and inside
// len counted in the 128-bit stored form (IPv4 adds 96).
uint8_t ipprefix_len128(const struct ipprefix *p);
// addr + n in the low 64 bits of an IPv6 address, or modulo 2^32 for IPv4: no carry beyond them.
struct ipaddr ipaddr_add(const struct ipaddr *a, uint64_t n);
