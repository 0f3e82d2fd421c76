// SPDX-License-Identifier: Apache-2.0
#include "core/rcu.h"

#include <errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <stdlib.h>

#include "base/compiler.h"

struct rcu_item {
	struct rcu_item *next;
	void (*fn)(void *);
	void *p;
	uint64_t token; // grace period that must have passed
};

// All but `rcu_var` belong to the control thread.
static struct rte_rcu_qsbr *rcu_var;
static struct rcu_item *rcu_head, **rcu_tail = &rcu_head;

int rcu_init(unsigned workers)
{
	size_t size = rte_rcu_qsbr_get_memsize(workers);
	if (size == 0 || size == 1)
		return -EINVAL;
	rcu_var = rte_zmalloc("rcu", size, CACHE_LINE);
	if (!rcu_var)
		return -ENOMEM;
	return rte_rcu_qsbr_init(rcu_var, workers) == 0 ? 0 : -EINVAL;
}

void rcu_fini(void)
{
	rcu_synchronize();
	rcu_reap();
	rte_free(rcu_var);
	rcu_var = NULL;
}

void rcu_register(unsigned worker)
{
	(void)rte_rcu_qsbr_thread_register(rcu_var, worker);
	rte_rcu_qsbr_thread_online(rcu_var, worker);
}

void rcu_unregister(unsigned worker)
{
	rte_rcu_qsbr_thread_offline(rcu_var, worker);
	(void)rte_rcu_qsbr_thread_unregister(rcu_var, worker);
}

void rcu_quiescent(unsigned worker)
{
	rte_rcu_qsbr_quiescent(rcu_var, worker);
}

void rcu_offline(unsigned worker)
{
	rte_rcu_qsbr_thread_offline(rcu_var, worker);
}

void rcu_online(unsigned worker)
{
	rte_rcu_qsbr_thread_online(rcu_var, worker);
}

void rcu_synchronize(void)
{
	if (rcu_var)
		rte_rcu_qsbr_synchronize(rcu_var, RTE_QSBR_THRID_INVALID);
}

void rcu_defer(void (*fn)(void *), void *p)
{
	struct rcu_item *item = rcu_var ? malloc(sizeof(*item)) : NULL;
	if (!item) { // no readers yet, or no memory to remember it: wait instead
		rcu_synchronize();
		fn(p);
		return;
	}
	*item = (struct rcu_item){.fn = fn, .p = p, .token = rte_rcu_qsbr_start(rcu_var)};
	*rcu_tail = item;
	rcu_tail = &item->next;
}

void rcu_reap(void)
{
	while (rcu_head && (!rcu_var || rte_rcu_qsbr_check(rcu_var, rcu_head->token, false) == 1)) {
		struct rcu_item *item = rcu_head;
		rcu_head = item->next;
		if (!rcu_head)
			rcu_tail = &rcu_head;
		item->fn(item->p);
		free(item);
	}
}
