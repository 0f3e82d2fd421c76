// SPDX-License-Identifier: Apache-2.0
// One tuple of the classifier: the rules with one mask, their hash table, and the priorities they
// have.
//
// Used by classifier.c alone. Writer thread; what a reader may hold is freed after a grace period.
#pragma once

#include "flow/classifier_parts.h"

typedef _Atomic(struct classifier_node *) classifier_link; // what points at a node

// An empty tuple, or NULL.
struct classifier_tuple *classifier_tuple_new(const struct flow_key *mask);
// Frees the tuple with its nodes. For rcu_defer; p is a struct classifier_tuple or NULL.
void classifier_tuple_free(void *p);
// A node of the tuple that is not in its table yet, or NULL; freed by free().
struct classifier_node *classifier_tuple_node(const struct classifier_tuple *t,
					      const struct classifier_rule *rule, uint64_t seed);
// What points at the node of a rule, or NULL. Valid until the next insertion or removal.
classifier_link *classifier_tuple_find(struct classifier_tuple *t,
				       const struct classifier_rule *rule, uint64_t seed);
// Counts a rule's priority in, before its node is inserted. 0 or -ENOMEM.
int classifier_tuple_count(struct classifier_tuple *t, int32_t priority);
// Takes back one classifier_tuple_count.
void classifier_tuple_uncount(struct classifier_tuple *t, int32_t priority);
// Highest priority counted in; INT32_MIN when there is none.
int32_t classifier_tuple_max(const struct classifier_tuple *t);
// Shows a node to readers; takes it.
void classifier_tuple_insert(struct classifier_tuple *t, struct classifier_node *n);
// Hides the node that link points at, counts its priority out, and frees it after a grace period.
void classifier_tuple_remove(struct classifier_tuple *t, classifier_link *link);
// As classifier_foreach, for one tuple.
int classifier_tuple_foreach(const struct classifier_tuple *t,
			     int (*fn)(const struct classifier_rule *rule, void *value, void *arg),
			     void *arg);
