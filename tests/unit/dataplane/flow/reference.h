// SPDX-License-Identifier: Apache-2.0
// The classifier's rules as a plain list, searched from end to end: what it must agree with. Also
// the random rules and keys that such comparisons use, from masks of every shape over few values,
// so that rules overlap.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "harness/cm.h"

#include "flow/classifier.h"

#define REFERENCE_MAX 4096

struct reference_rule {
	struct classifier_rule rule;
	void *value;
};

// In order of age.
struct reference {
	unsigned count;
	struct reference_rule rules[REFERENCE_MAX];
};

static inline bool reference_is_match(const struct classifier_rule *rule,
				      const struct flow_key *key)
{
	const uint8_t *k = (const uint8_t *)key, *m = (const uint8_t *)&rule->mask,
		      *want = (const uint8_t *)&rule->key;

	for (size_t i = 0; i < sizeof(*key); i++) {
		if ((k[i] & m[i]) != want[i])
			return false;
	}
	return true;
}

static inline void *reference_lookup(const struct reference *ref, const struct flow_key *key)
{
	const struct reference_rule *best = NULL;

	for (unsigned i = 0; i < ref->count; i++) {
		const struct reference_rule *r = &ref->rules[i];

		if (reference_is_match(&r->rule, key) &&
		    (best == NULL || r->rule.priority > best->rule.priority))
			best = r;
	}
	return best == NULL ? NULL : best->value;
}

static inline struct reference_rule *reference_get(struct reference *ref,
						   const struct classifier_rule *rule)
{
	for (unsigned i = 0; i < ref->count; i++) {
		if (memcmp(&ref->rules[i].rule.key, &rule->key, sizeof(rule->key)) == 0 &&
		    memcmp(&ref->rules[i].rule.mask, &rule->mask, sizeof(rule->mask)) == 0 &&
		    ref->rules[i].rule.priority == rule->priority)
			return &ref->rules[i];
	}
	return NULL;
}

// The old value, or NULL.
static inline void *reference_set(struct reference *ref, const struct classifier_rule *rule,
				  void *value)
{
	struct reference_rule *r = reference_get(ref, rule);
	void *old = NULL;

	if (r != NULL) {
		old = r->value;
	} else {
		assert_true(ref->count < REFERENCE_MAX);
		r = &ref->rules[ref->count++];
		r->rule = *rule;
	}
	r->value = value;
	return old;
}

// The value, or NULL.
static inline void *reference_del(struct reference *ref, const struct classifier_rule *rule)
{
	struct reference_rule *r = reference_get(ref, rule);
	void *value;

	if (r == NULL)
		return NULL;
	value = r->value;
	ref->count--;
	memmove(r, r + 1, (size_t)(&ref->rules[ref->count] - r) * sizeof(*r));
	return value;
}

static inline unsigned reference_masks(const struct reference *ref)
{
	unsigned masks = 0;

	for (unsigned i = 0; i < ref->count; i++) {
		unsigned j = 0;

		while (j < i && memcmp(&ref->rules[j].rule.mask, &ref->rules[i].rule.mask,
				       sizeof(struct flow_key)) != 0)
			j++;
		masks += j == i;
	}
	return masks;
}

// ---- random ----

struct reference_random {
	uint64_t state;
};

static inline uint32_t reference_draw(struct reference_random *r, uint32_t limit)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return (uint32_t)((r->state >> 16) % limit);
}

// A new seed each run, or the one that a failed run printed.
static inline struct reference_random reference_seed(void)
{
	const char *text = getenv("TEST_SEED");
	struct reference_random r = {1};

	if (text != NULL)
		r.state = strtoull(text, NULL, 0);
	else if (getrandom(&r.state, sizeof(r.state), 0) < 0)
		r.state = 1;
	r.state |= 1;
	print_message("TEST_SEED=0x%llx\n", (unsigned long long)r.state);
	return r;
}

static inline struct flow_key reference_key(struct reference_random *r)
{
	struct flow_key k = {
		.src = {{[10] = 0xff, [11] = 0xff, 10, 0, (uint8_t)reference_draw(r, 3)}},
		.dst = {{[10] = 0xff, [11] = 0xff, 10, (uint8_t)reference_draw(r, 2)}},
		.sport = (uint16_t)reference_draw(r, 2),
		.dport = (uint16_t)(80 + reference_draw(r, 3)),
		.in_port = (uint16_t)reference_draw(r, 3),
		.proto = reference_draw(r, 2) ? 6 : 17,
		.frag = reference_draw(r, 8) == 0,
	};

	k.src.b[15] = (uint8_t)reference_draw(r, 4);
	k.dst.b[14] = (uint8_t)reference_draw(r, 3);
	k.dst.b[15] = (uint8_t)reference_draw(r, 4);
	if (reference_draw(r, 4) == 0)
		memset(k.dst.b, 0xfd, 12);
	return k;
}

static inline void reference_set_prefix(struct ipaddr *mask, uint32_t bits)
{
	for (uint32_t i = 0; i < bits; i++)
		mask->b[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

// Any of about 1700 shapes, the empty and the full one among them.
static inline struct flow_key reference_mask(struct reference_random *r)
{
	static const uint8_t bits[] = {0, 0, 96, 104, 120, 127, 128};
	struct flow_key m = {0};

	if (reference_draw(r, 16) == 0) {
		memset(&m, reference_draw(r, 2) ? 0xff : 0, sizeof(m));
		return m;
	}
	reference_set_prefix(&m.src, bits[reference_draw(r, sizeof(bits))]);
	reference_set_prefix(&m.dst, bits[reference_draw(r, sizeof(bits))]);
	m.sport = reference_draw(r, 4) == 0 ? 0xffff : 0;
	m.dport = reference_draw(r, 2) ? 0xffff : 0;
	m.in_port = reference_draw(r, 3) == 0 ? 0xffff : 0;
	m.proto = reference_draw(r, 2) ? 0xff : 0;
	m.frag = reference_draw(r, 4) == 0 ? 0xff : 0;
	return m;
}

static inline struct flow_key reference_and(const struct flow_key *key, const struct flow_key *mask)
{
	struct flow_key out;

	for (size_t i = 0; i < sizeof(out); i++)
		((uint8_t *)&out)[i] = ((const uint8_t *)key)[i] & ((const uint8_t *)mask)[i];
	return out;
}

static inline struct classifier_rule reference_rule(struct reference_random *r,
						    const struct flow_key *mask)
{
	const struct flow_key key = reference_key(r);

	return (struct classifier_rule){
		.key = reference_and(&key, mask),
		.mask = *mask,
		.priority = (int32_t)reference_draw(r, 6) - 2,
	};
}
