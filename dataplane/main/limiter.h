// SPDX-License-Identifier: Apache-2.0
// Token buckets, one per port, for the frames that weftd sends because of a bad one (ICMP errors).
//
// A bucket holds LIMITER_BURST tokens and gains LIMITER_RATE a second (RFC 1812 4.3.2.8 and RFC
// 4443 2.4 f ask for a limit; the figures are ours). One worker owns one limiter.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/port.h"

#define LIMITER_RATE 100u // errors per second and port
#define LIMITER_BURST 50u // errors at once

struct limiter {
	struct limiter_bucket {
		uint64_t last_ns; // when tokens was brought up to date
		uint32_t tokens;
	} bucket[PORT_MAX];
};

// Takes a token of the port; false when there is none.
bool limiter_take(struct limiter *l, uint16_t port, uint64_t now_ns);
