// SPDX-License-Identifier: Apache-2.0
#include "main/limiter.h"

#include "base/clock.h"

bool limiter_take(struct limiter *l, uint16_t port, uint64_t now_ns)
{
	struct limiter_bucket *b = &l->bucket[port < PORT_MAX ? port : 0];
	uint64_t gained = (now_ns - b->last_ns) / (NS_PER_SEC / LIMITER_RATE);

	if (b->last_ns == 0 || gained >= LIMITER_BURST) {
		b->tokens = LIMITER_BURST;
		b->last_ns = now_ns;
	} else if (gained > 0) {
		uint32_t tokens = b->tokens + (uint32_t)gained;
		b->tokens = tokens < LIMITER_BURST ? tokens : LIMITER_BURST;
		b->last_ns += gained * (NS_PER_SEC / LIMITER_RATE);
	}
	if (b->tokens == 0)
		return false;
	b->tokens--;
	return true;
}
