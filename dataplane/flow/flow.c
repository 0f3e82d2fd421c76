// SPDX-License-Identifier: Apache-2.0
#include "flow/flow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rcu.h"

// Destination-only matches: one mask per prefix length of the 128-bit form, and a few to spare.
#define FLOW_MASKS_MAX 64

static struct classifier *flow_tables[FLOW_TABLE_COUNT];
static uint64_t flow_hash_seed;
// Moved on by the control thread with release, so that a worker which sees the new number sees the
// tables it stands for.
static _Atomic uint32_t flow_gen = 1;

int flow_init(uint64_t seed)
{
	flow_hash_seed = seed;
	for (int t = 0; t < FLOW_TABLE_COUNT; t++) {
		flow_tables[t] = classifier_new(FLOW_MASKS_MAX, seed);
		if (!flow_tables[t]) {
			flow_fini();
			return -ENOMEM;
		}
	}
	return 0;
}

static int free_one(const struct classifier_rule *rule, void *value, void *arg)
{
	(void)rule;
	(void)arg;
	free(value);
	return 0;
}

void flow_fini(void)
{
	rcu_synchronize();
	for (int t = 0; t < FLOW_TABLE_COUNT; t++) {
		if (flow_tables[t])
			(void)classifier_foreach(flow_tables[t], free_one, NULL);
		classifier_free(flow_tables[t]);
		flow_tables[t] = NULL;
	}
}

uint64_t flow_seed(void)
{
	return flow_hash_seed;
}

const char *flow_table_name(enum flow_table table)
{
	static const char *const names[FLOW_TABLE_COUNT] = {
		[FLOW_TABLE_ENDPOINT] = "endpoint",
		[FLOW_TABLE_ROUTE] = "route",
	};
	return (unsigned)table < FLOW_TABLE_COUNT ? names[table] : "?";
}

static void set_prefix_mask(struct ipaddr *mask, unsigned bits)
{
	memset(mask, 0, sizeof(*mask));
	for (unsigned i = 0; i < 16 && bits > 0; i++) {
		unsigned n = bits < 8 ? bits : 8;
		mask->b[i] = (uint8_t)(0xff00u >> n);
		bits -= n;
	}
}

static void rule_of_dst(const struct ipprefix *dst, int32_t priority, struct classifier_rule *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->key.dst = ipprefix_mask(dst);
	set_prefix_mask(&ret->mask.dst, ipprefix_len128(dst));
	ret->priority = priority;
}

int32_t flow_prefix_priority(const struct ipprefix *dst)
{
	return ipprefix_len128(dst);
}

// Cached decisions point at the flow for its counter and follow that only while their generation is
// current: it must move on before the grace period starts.
static void retire(void *old)
{
	flow_commit();
	rcu_defer(free, old);
}

int flow_set_dst(enum flow_table table, const struct ipprefix *dst, int32_t priority,
		 const struct resolved *decision, const char *cookie)
{
	struct flow *f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->table = table;
	f->decision = *decision;
	snprintf(f->cookie, sizeof(f->cookie), "%s", cookie);
	rule_of_dst(dst, priority, &f->rule);

	void *old = NULL;
	int r = classifier_set(flow_tables[table], &f->rule, f, &old);
	if (r < 0) {
		free(f);
		return r;
	}
	if (old)
		retire(old);
	return 0;
}

int flow_del_dst(enum flow_table table, const struct ipprefix *dst, int32_t priority)
{
	struct classifier_rule rule;
	rule_of_dst(dst, priority, &rule);
	void *old = classifier_del(flow_tables[table], &rule);
	if (!old)
		return -ENOENT;
	retire(old);
	return 0;
}

static struct ipprefix host_prefix(const struct ipaddr *a)
{
	return (struct ipprefix){.addr = *a, .len = ipaddr_is_v4(a) ? 32 : 128};
}

int flow_set_addr(const struct ipaddr *addr, const struct resolved *decision, const char *cookie)
{
	struct ipprefix p = host_prefix(addr);
	return flow_set_dst(FLOW_TABLE_ENDPOINT, &p, flow_prefix_priority(&p), decision, cookie);
}

void flow_del_addr(const struct ipaddr *addr)
{
	struct ipprefix p = host_prefix(addr);
	(void)flow_del_dst(FLOW_TABLE_ENDPOINT, &p, flow_prefix_priority(&p));
}

bool flow_has_addr(const struct ipaddr *addr)
{
	struct flow_key key = {.dst = *addr};

	return flow_tables[FLOW_TABLE_ENDPOINT] && flow_lookup(FLOW_TABLE_ENDPOINT, &key);
}

void flow_commit(void)
{
	atomic_fetch_add_explicit(&flow_gen, 1, memory_order_release);
}

uint32_t flow_generation(void)
{
	return atomic_load_explicit(&flow_gen, memory_order_acquire);
}

struct flow *flow_lookup(enum flow_table table, const struct flow_key *key)
{
	return classifier_lookup(flow_tables[table], key);
}

uint64_t flow_packets(const struct flow *f)
{
	uint64_t sum = 0;
	for (unsigned w = 0; w < PORT_WORKERS_MAX; w++)
		sum += atomic_load_explicit(&f->packets[w], memory_order_relaxed);
	return sum;
}

struct foreach_arg {
	int (*fn)(const struct flow *flow, void *arg);
	void *arg;
};

static int foreach_one(const struct classifier_rule *rule, void *value, void *arg)
{
	const struct foreach_arg *a = arg;
	(void)rule;
	return a->fn(value, a->arg);
}

int flow_foreach(int (*fn)(const struct flow *flow, void *arg), void *arg)
{
	struct foreach_arg a = {.fn = fn, .arg = arg};
	for (int t = 0; t < FLOW_TABLE_COUNT; t++) {
		int r = classifier_foreach(flow_tables[t], foreach_one, &a);
		if (r)
			return r;
	}
	return 0;
}
