// SPDX-License-Identifier: Apache-2.0
// Tuple-space search over flow keys: rules {mask, key, priority, value}, highest priority wins.
//
// One hash table per distinct mask ("tuple"); tuples are kept in order of their highest priority
// and the search stops at the first tuple that cannot beat what was found. Masks are bounded by the
// limit given at creation: one that would exceed it is refused (-ENOSPC), so lookup cost is bounded
// whatever is installed; traffic never adds a mask (CVE-2019-25076). Equal priority: the older rule
// wins.
//
// Threads: one writer (control thread); any number of readers that follow core/rcu.h. A change is
// seen whole or not at all: a reader never misses a rule that was there before and after a change.
// Replaced memory is freed after a grace period by rcu_defer. Lookups neither lock, wait nor
// allocate.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "packet/key.h"

struct classifier;

struct classifier_rule {
	struct flow_key key;  // bits outside mask must be zero
	struct flow_key mask; // ones where the rule looks
	int32_t priority;
};

// seed: of the hash. NULL when memory is short.
struct classifier *classifier_new(unsigned max_masks, uint64_t seed);
void classifier_free(struct classifier *c); // values stay the caller's
// Adds, or replaces the value of the rule with the same mask, key and priority (*ret_old, may be
// NULL, gets the old value or NULL; the caller frees it after a grace period). 0, -EINVAL (key
// outside mask), -ENOSPC (too many masks), -ENOMEM.
int classifier_set(struct classifier *c, const struct classifier_rule *rule, void *value,
		   void **ret_old);
// Removes; the value, or NULL. The caller frees it after a grace period.
void *classifier_del(struct classifier *c, const struct classifier_rule *rule);
// Best value for a key, or NULL. Reader.
void *classifier_lookup(const struct classifier *c, const struct flow_key *key);
// The same for up to 64 keys at once, prefetching; ret[i] = value or NULL.
void classifier_lookup_burst(const struct classifier *c, const struct flow_key *const *keys,
			     unsigned n, void **ret);
size_t classifier_len(const struct classifier *c);
unsigned classifier_masks(const struct classifier *c);
// Every rule, in no order; writer thread. Stops when fn returns non-zero and returns that.
int classifier_foreach(const struct classifier *c,
		       int (*fn)(const struct classifier_rule *rule, void *value, void *arg),
		       void *arg);
