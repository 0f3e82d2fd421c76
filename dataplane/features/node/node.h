// SPDX-License-Identifier: Apache-2.0
// The nodes of the cluster as the agent told them, and which one this is.
//
//	node_table_set(t, n);           upsert by name; takes n
//	node_table_sweep(t, gen);       after a sync: drops what was not repeated since generation
// gen
//
// Data only: what follows from it (ranges, routes) is the caller's. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ipaddr.h"

#define NODE_IPS_MAX 16
#define NODE_CIDRS_MAX 16
#define NODES_MAX 20000 // more than any cluster has

struct node {
	char *name; // owned
	bool self;
	size_t ip_count, cidr_count;
	struct ipaddr ips[NODE_IPS_MAX];
	struct ipprefix cidrs[NODE_CIDRS_MAX];
	uint64_t generation; // of the sync that set it last
};

struct node_table;

// NULL is nothing.
void node_free(struct node *n);
// NULL when memory is short.
struct node_table *node_table_new(void);
void node_table_free(struct node_table *t);
// Takes n; one of the same name is replaced. A node that is self takes that from any other. 0 or
// -errno (-E2BIG: NODES_MAX), n stays the caller's then.
int node_table_set(struct node_table *t, struct node *n);
bool node_table_del(struct node_table *t, const char *name);
// Number of nodes dropped whose generation is older.
size_t node_table_sweep(struct node_table *t, uint64_t generation);
// The own node, or NULL.
const struct node *node_table_self(const struct node_table *t);
size_t node_table_len(const struct node_table *t);
int node_table_foreach(struct node_table *t, int (*fn)(const struct node *n, void *arg), void *arg);
