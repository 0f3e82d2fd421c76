// SPDX-License-Identifier: Apache-2.0
#include "features/gateway/gateway.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/rcu.h"
#include "features/gateway/gateway_fast.h"
#include "flow/flow.h"

static const struct gateway_set gateway_link_local_only = {
	.count = 2,
	.addrs =
		{
			{{[10] = 0xff, [11] = 0xff, [12] = 169, [13] = 254, [14] = 1, [15] = 1}},
			{{[0] = 0xfe, [1] = 0x80, [15] = 1}},
		},
};

// NULL: only the link-local addresses.
static struct gateway_set *_Atomic gateway_current;

void gateway_link_local(bool v4, struct ipaddr *ret)
{
	*ret = gateway_link_local_only.addrs[v4 ? 0 : 1];
}

const struct gateway_set *gateway_set_get(void)
{
	const struct gateway_set *s = atomic_load_explicit(&gateway_current, memory_order_acquire);
	return s ? s : &gateway_link_local_only;
}

static bool has(const struct gateway_set *s, const struct ipaddr *a)
{
	for (unsigned i = 0; i < s->count; i++) {
		if (ipaddr_is_equal(&s->addrs[i], a))
			return true;
	}
	return false;
}

// Packets to an address of the gateway are answered by gateway_stage.c.
static int add_flows(const struct gateway_set *next)
{
	static const struct resolved local = {.verdict = RESOLVED_LOCAL};
	for (unsigned i = 0; i < next->count; i++) {
		int r = flow_set_addr(&next->addrs[i], &local, "gateway");
		if (r < 0)
			return r;
	}
	return 0;
}

static void del_flows(const struct gateway_set *old, const struct gateway_set *next)
{
	for (unsigned i = 0; i < old->count; i++) {
		if (!has(next, &old->addrs[i]))
			flow_del_addr(&old->addrs[i]);
	}
}

int gateway_set_addrs(const struct ipaddr *addrs, unsigned count)
{
	if (count > GATEWAY_ADDRS_MAX)
		return -E2BIG;
	struct gateway_set *next = malloc(sizeof(*next));
	if (!next)
		return -ENOMEM;
	*next = gateway_link_local_only;
	for (unsigned i = 0; i < count; i++)
		next->addrs[next->count++] = addrs[i];

	int r = add_flows(next);
	if (r < 0) {
		free(next);
		return r;
	}
	del_flows(gateway_set_get(), next);
	struct gateway_set *old =
		atomic_exchange_explicit(&gateway_current, next, memory_order_acq_rel);
	flow_commit();
	if (old)
		rcu_defer(free, old);
	return 0;
}
