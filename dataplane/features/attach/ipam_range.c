// SPDX-License-Identifier: Apache-2.0
#include "features/attach/ipam_range.h"

#include <string.h>

static uint64_t low64(const struct ipaddr *a)
{
	uint64_t v = 0;

	for (int i = 8; i < 16; i++)
		v = v << 8 | a->b[i];
	return v;
}

uint64_t ipam_range_end(const struct ipprefix *range)
{
	unsigned host_bits = 128 - ipprefix_len128(range);
	uint64_t size = host_bits >= 64 ? UINT64_MAX : 1ull << host_bits;

	return ipaddr_is_v4(&range->addr) ? size - 1 : size;
}

uint64_t ipam_range_total(const struct ipprefix *range)
{
	uint64_t end = ipam_range_end(range);

	return end > IPAM_RANGE_FIRST ? end - IPAM_RANGE_FIRST : 0;
}

uint64_t ipam_range_offset(const struct ipprefix *range, const struct ipaddr *addr)
{
	if (memcmp(addr->b, range->addr.b, 8) != 0)
		return UINT64_MAX;
	return low64(addr) - low64(&range->addr);
}

const char *ipam_range_role(const struct ipprefix *range, const struct ipaddr *addr)
{
	uint64_t offset = ipam_range_offset(range, addr);

	if (offset == 0)
		return "network address";
	if (offset == 1 && ipam_range_total(range) > 0)
		return "gateway";
	if (ipaddr_is_v4(addr) && offset == ipam_range_end(range))
		return "broadcast address";
	return NULL;
}
