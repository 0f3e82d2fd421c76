// SPDX-License-Identifier: Apache-2.0
#include "base/ipaddr.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAPPED_BITS 96 // length of ::ffff:0:0/96

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

struct ipaddr ipaddr_from_v4(uint32_t be_addr)
{
	struct ipaddr a;

	memcpy(a.b, mapped_prefix, sizeof(mapped_prefix));
	memcpy(a.b + 12, &be_addr, sizeof(be_addr));
	return a;
}

struct ipaddr ipaddr_from_v6(const void *bytes16)
{
	struct ipaddr a;

	memcpy(a.b, bytes16, sizeof(a.b));
	return a;
}

bool ipaddr_is_v4(const struct ipaddr *a)
{
	return memcmp(a->b, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

uint32_t ipaddr_v4(const struct ipaddr *a)
{
	uint32_t be_addr;

	memcpy(&be_addr, a->b + 12, sizeof(be_addr));
	return be_addr;
}

int ipaddr_parse(const char *text, struct ipaddr *ret_addr)
{
	struct in_addr v4;
	struct ipaddr v6;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*ret_addr = ipaddr_from_v4(v4.s_addr);
		return 0;
	}
	if (inet_pton(AF_INET6, text, v6.b) != 1 || ipaddr_is_v4(&v6))
		return -EINVAL;
	*ret_addr = v6;
	return 0;
}

// Decimal digits only, no leading zero, at most max.
static int parse_len(const char *text, unsigned max, uint8_t *ret_len)
{
	unsigned len = 0;
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 3 || text[digits] != '\0' || (digits > 1 && text[0] == '0'))
		return -EINVAL;
	for (size_t i = 0; i < digits; i++)
		len = len * 10 + (unsigned)(text[i] - '0');
	if (len > max)
		return -EINVAL;
	*ret_len = (uint8_t)len;
	return 0;
}

int ipprefix_parse(const char *text, struct ipprefix *ret_prefix)
{
	const char *slash = strchr(text, '/');
	size_t addr_len = slash ? (size_t)(slash - text) : strlen(text);
	char addr[IPADDR_TEXT_MAX];
	struct ipprefix p;

	if (addr_len >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, addr_len);
	addr[addr_len] = '\0';
	if (ipaddr_parse(addr, &p.addr) < 0)
		return -EINVAL;
	p.len = ipaddr_is_v4(&p.addr) ? 32 : 128;
	if (slash && parse_len(slash + 1, p.len, &p.len) < 0)
		return -EINVAL;
	*ret_prefix = p;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int macaddr_parse(const char *text, struct macaddr *ret_mac)
{
	struct macaddr m;

	if (strnlen(text, MACADDR_TEXT_MAX) != MACADDR_TEXT_MAX - 1)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(m.b); i++) {
		const char *at = text + 3 * i;
		int high = hex_digit(at[0]), low = hex_digit(at[1]);
		if (high < 0 || low < 0 || (i > 0 && at[-1] != ':'))
			return -EINVAL;
		m.b[i] = (uint8_t)(high << 4 | low);
	}
	*ret_mac = m;
	return 0;
}

const char *ipaddr_format(const struct ipaddr *a, char out[IPADDR_TEXT_MAX])
{
	bool v4 = ipaddr_is_v4(a);

	// Cannot fail: both families are known and the buffer fits any address.
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a->b + 12 : a->b, out, IPADDR_TEXT_MAX);
	return out;
}

const char *ipprefix_format(const struct ipprefix *p, char out[IPPREFIX_TEXT_MAX])
{
	char addr[IPADDR_TEXT_MAX];

	snprintf(out, IPPREFIX_TEXT_MAX, "%s/%u", ipaddr_format(&p->addr, addr), p->len);
	return out;
}

const char *macaddr_format(const struct macaddr *m, char out[MACADDR_TEXT_MAX])
{
	const uint8_t *b = m->b;

	snprintf(out, MACADDR_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
		 b[4], b[5]);
	return out;
}

bool ipaddr_is_equal(const struct ipaddr *a, const struct ipaddr *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

int ipaddr_compare(const struct ipaddr *a, const struct ipaddr *b)
{
	return memcmp(a->b, b->b, sizeof(a->b));
}

static bool v4_is_unicast(const uint8_t b[4])
{
	static const uint8_t broadcast[4] = {255, 255, 255, 255};

	if (b[0] == 0 || b[0] == 127 || (b[0] & 0xf0) == 224)
		return false;
	return memcmp(b, broadcast, sizeof(broadcast)) != 0;
}

bool ipaddr_is_unicast(const struct ipaddr *a)
{
	static const struct ipaddr any, loopback = {{[15] = 1}};

	if (ipaddr_is_v4(a))
		return v4_is_unicast(a->b + 12);
	return a->b[0] != 0xff && !ipaddr_is_equal(a, &any) && !ipaddr_is_equal(a, &loopback);
}

bool ipaddr_is_link_local(const struct ipaddr *a)
{
	if (ipaddr_is_v4(a))
		return a->b[12] == 169 && a->b[13] == 254;
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

uint8_t ipprefix_len128(const struct ipprefix *p)
{
	unsigned len = p->len + (ipaddr_is_v4(&p->addr) ? MAPPED_BITS : 0u);

	return (uint8_t)(len > 128 ? 128 : len);
}

struct ipaddr ipprefix_mask(const struct ipprefix *p)
{
	unsigned len = ipprefix_len128(p);
	struct ipaddr a = p->addr;

	for (unsigned i = 0; i < sizeof(a.b); i++) {
		unsigned kept = len > 8 * i ? len - 8 * i : 0;
		if (kept < 8)
			a.b[i] &= (uint8_t)(0xff00u >> kept);
	}
	return a;
}

bool ipprefix_has(const struct ipprefix *p, const struct ipaddr *a)
{
	struct ipprefix of_a = {.addr = *a, .len = p->len};
	struct ipaddr net = ipprefix_mask(p), other;

	if (ipaddr_is_v4(&p->addr) != ipaddr_is_v4(a))
		return false;
	other = ipprefix_mask(&of_a);
	return ipaddr_is_equal(&net, &other);
}

struct ipaddr ipaddr_add(const struct ipaddr *a, uint64_t n)
{
	struct ipaddr sum = *a;
	uint64_t low;

	if (ipaddr_is_v4(a))
		return ipaddr_from_v4(htonl(ntohl(ipaddr_v4(a)) + (uint32_t)n));
	memcpy(&low, a->b + 8, sizeof(low));
	low = htobe64(be64toh(low) + n);
	memcpy(sum.b + 8, &low, sizeof(low));
	return sum;
}
