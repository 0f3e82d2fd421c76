// SPDX-License-Identifier: Apache-2.0
// Flows: {table, priority, match, decision, cookie}, held in one classifier per table.
//
// The cookie names the object that made the flow ("pod/ns/name", "node/n1"). Changes take effect
// for the next packet: flow_commit moves the generation on, which turns every cached decision stale
// at once. Between two commits packets may see the old or the new decision of a flow, never
// something else.
//
// Threads: the control thread writes; workers look up (core/rcu.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/ipaddr.h"
#include "core/port.h"
#include "flow/classifier.h"
#include "flow/resolved.h"

#define FLOW_COOKIE_MAX 128 // bytes with NUL; longer ones are cut

enum flow_table {
	FLOW_TABLE_ENDPOINT, // exact addresses: local pods, the node's own addresses, the gateway
	FLOW_TABLE_ROUTE,    // prefixes: what to do with everything else
	FLOW_TABLE_COUNT
};

struct flow {
	enum flow_table table;
	struct classifier_rule rule;
	struct resolved decision; // template; flows[] is filled by the resolver
	char cookie[FLOW_COOKIE_MAX];
	_Atomic uint64_t packets[PORT_WORKERS_MAX]; // written by one worker each
};

// 0 or -ENOMEM. seed: of all packet hashes of this process.
int flow_init(uint64_t seed);
void flow_fini(void);
uint64_t flow_seed(void);
const char *flow_table_name(enum flow_table table);
// Sets (replacing the flow with the same table, match and priority) or deletes a flow that matches
// packets to dst. Longer prefixes must be given a higher priority by the caller where that is meant
// (flow_prefix_priority). 0, -ENOMEM, -ENOSPC (masks).
int flow_set_dst(enum flow_table table, const struct ipprefix *dst, int32_t priority,
		 const struct resolved *decision, const char *cookie);
// 0, or -ENOENT.
int flow_del_dst(enum flow_table table, const struct ipprefix *dst, int32_t priority);
// The same for exactly one address, in table endpoint. Deleting one that is not there is nothing.
int flow_set_addr(const struct ipaddr *addr, const struct resolved *decision, const char *cookie);
void flow_del_addr(const struct ipaddr *addr);
// True where a flow of table endpoint is for this address. Control thread.
bool flow_has_addr(const struct ipaddr *addr);
int32_t flow_prefix_priority(const struct ipprefix *dst); // longest prefix first
// Makes what was set and deleted so far count for the next packet. Control thread.
void flow_commit(void);
// Read by workers once at the start of a burst.
uint32_t flow_generation(void);
// Best flow of a table for a key, or NULL. Workers.
struct flow *flow_lookup(enum flow_table table, const struct flow_key *key);
uint64_t flow_packets(const struct flow *f); // sum over workers
// All flows of all tables; control thread.
int flow_foreach(int (*fn)(const struct flow *flow, void *arg), void *arg);
