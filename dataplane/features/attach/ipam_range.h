// SPDX-License-Identifier: Apache-2.0
// Arithmetic on one pod range: which addresses of it pods can have. Pure functions; ranges have no
// host bits. An offset counts from the network address; of a range beyond 2^64 only that many are
// used.
#pragma once

#include <stdint.h>

#include "base/ipaddr.h"

#define IPAM_RANGE_FIRST 2 // offsets 0 and 1 are the network's and the gateway's

// Offset behind the last address that pods can have.
uint64_t ipam_range_end(const struct ipprefix *range);
// How many addresses pods can have.
uint64_t ipam_range_total(const struct ipprefix *range);
// Offset of an address that the range has; UINT64_MAX beyond the first 2^64.
uint64_t ipam_range_offset(const struct ipprefix *range, const struct ipaddr *addr);
// Why an address of the range can be no pod's ("gateway", ...), or NULL.
const char *ipam_range_role(const struct ipprefix *range, const struct ipaddr *addr);
