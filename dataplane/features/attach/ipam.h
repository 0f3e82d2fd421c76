// SPDX-License-Identifier: Apache-2.0
// The address store: which addresses of the node's pod ranges are taken, and which one comes next.
//
// A range costs memory for what was given out, not for its size: a cursor names the first address
// that was never given, and freed addresses wait in a queue, oldest first. Never-used addresses go
// first, then the one that was freed longest ago; where more than IPAM_RESTING of a range wait (a
// /64 has no last address) the oldest is reused once it rested IPAM_REST_NS. The network address,
// the first host (the gateway) and the IPv4 broadcast address are never given.
//
// In memory only; features/attach writes the journal. Control thread. Holders are borrowed texts
// that name an attachment and stay valid until ipam_give.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ipaddr.h"

#define IPAM_RANGES_MAX 16
#define IPAM_RESTING 4096
#define IPAM_REST_NS (60 * 1000000000ull)
#define IPAM_CODE 100 // CNI error code of everything that is refused here

struct ipam;

// NULL when memory is short.
struct ipam *ipam_new(void);
void ipam_free(struct ipam *ipam);
// Replaces the ranges. A range that stays keeps its cursor and queue; addresses in use stay taken
// whatever the ranges are. -EINVAL: more than IPAM_RANGES_MAX.
int ipam_set_ranges(struct ipam *ipam, const struct ipprefix *ranges, size_t count,
		    struct err *err);
size_t ipam_range_count(const struct ipam *ipam);
// Range i: prefix, first address never used as an offset, and how many of its addresses are taken
// and can be taken at all.
struct ipam_usage {
	struct ipprefix prefix;
	uint64_t next, used, total;
};
void ipam_usage(const struct ipam *ipam, size_t i, struct ipam_usage *ret);
// The gateway's address in range i; false where the range is too small to have one.
bool ipam_gateway(const struct ipam *ipam, size_t i, struct ipaddr *ret);
bool ipam_has_family(const struct ipam *ipam, bool v4);

// Takes the next address of a family. -ENOSPC with the ranges' fill in err.
int ipam_take(struct ipam *ipam, bool v4, const char *holder, uint64_t now_ns,
	      struct ipaddr *ret_addr, struct err *err);
// Takes one address. outside: also one that no range has (allocated by somebody else), and the
// reserved ones of a range. -EEXIST names the holder, -ERANGE: outside the ranges, -EINVAL:
// reserved, no unicast.
int ipam_take_addr(struct ipam *ipam, const struct ipaddr *addr, bool outside, const char *holder,
		   struct err *err);
// Gives an address back; one of a range goes to the end of its queue. Unknown ones are ignored.
void ipam_give(struct ipam *ipam, const struct ipaddr *addr, uint64_t now_ns);
// Who has the address, or NULL.
const char *ipam_holder(const struct ipam *ipam, const struct ipaddr *addr);

// For the journal: moves a range's cursor forward, puts an address at the end of the queue as if it
// was given back now, and walks the queues oldest first (fn returns non-zero to stop).
void ipam_restore_next(struct ipam *ipam, const struct ipprefix *range, uint64_t next);
int ipam_restore_freed(struct ipam *ipam, const struct ipaddr *addr, uint64_t now_ns);
int ipam_foreach_freed(const struct ipam *ipam, int (*fn)(const struct ipaddr *addr, void *arg),
		       void *arg);
