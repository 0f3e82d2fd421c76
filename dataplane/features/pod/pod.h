// SPDX-License-Identifier: Apache-2.0
// The cluster's pods as the agent told them. An attachment starts to forward when its pod is here.
//
// Data only. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ipaddr.h"

#define POD_IPS_MAX 8
#define PODS_MAX 200000

struct pod {
	char *namespace, *name, *uid, *node, *phase; // owned
	bool host_network;
	size_t ip_count;
	struct ipaddr ips[POD_IPS_MAX];
	uint64_t generation; // of the sync that set it last
};

struct pod_table;

// NULL is nothing.
void pod_free(struct pod *p);
// NULL when memory is short.
struct pod_table *pod_table_new(void);
void pod_table_free(struct pod_table *t);
// Takes p; one of the same namespace and name is replaced. 0 or -errno (-E2BIG: PODS_MAX), p stays
// the caller's then.
int pod_table_set(struct pod_table *t, struct pod *p);
bool pod_table_del(struct pod_table *t, const char *namespace, const char *name);
// Number of pods dropped whose generation is older.
size_t pod_table_sweep(struct pod_table *t, uint64_t generation);
// The pod, or NULL.
const struct pod *pod_table_get(const struct pod_table *t, const char *namespace, const char *name);
size_t pod_table_len(const struct pod_table *t);
