// SPDX-License-Identifier: Apache-2.0
// wrap: calloc aligned_alloc reallocarray
#include "reference.h"

#include <errno.h>
#include <limits.h>

#include "base/compiler.h"

#define MASKS_MAX 64

static struct reference_random rng;
static struct reference ref;
static uint64_t values[REFERENCE_MAX * 4]; // addresses to store

// Fails every allocation while fail_every is set and the draw says so.
static unsigned fail_every;
static unsigned failed;

static bool is_failing(void)
{
	if (fail_every == 0 || reference_draw(&rng, fail_every) != 0)
		return false;
	failed++;
	return true;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return is_failing() ? NULL : __real_calloc(n, size);
}

void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return is_failing() ? NULL : __real_aligned_alloc(align, size);
}

void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return is_failing() ? NULL : __real_reallocarray(p, n, size);
}

static struct classifier *make(unsigned max_masks)
{
	struct classifier *c = classifier_new(max_masks, 0x123456789abcdef);

	assert_non_null(c);
	ref.count = 0;
	return c;
}

static void check_lookups(const struct classifier *c, unsigned count)
{
	struct flow_key keys[64];
	const struct flow_key *pointers[64];
	void *got[64];

	for (unsigned i = 0; i < count; i++) {
		keys[i] = reference_key(&rng);
		pointers[i] = &keys[i];
		assert_ptr_equal(classifier_lookup(c, &keys[i]), reference_lookup(&ref, &keys[i]));
	}
	classifier_lookup_burst(c, pointers, count, got);
	for (unsigned i = 0; i < count; i++)
		assert_ptr_equal(got[i], reference_lookup(&ref, &keys[i]));
}

static void test_empty(void **state)
{
	struct classifier *c = make(4);
	struct classifier_rule rule = {.priority = 1};

	(void)state;
	check_lookups(c, 10);
	assert_null(classifier_del(c, &rule));
	assert_int_equal(classifier_len(c), 0);
	assert_int_equal(classifier_masks(c), 0);
	classifier_free(c);
	classifier_free(NULL);
}

static void test_refusals(void **state)
{
	struct classifier *c = make(4);
	struct classifier_rule rule = {.key = {.proto = 6}};

	(void)state;
	// A key outside of its mask could never match.
	assert_int_equal(classifier_set(c, &rule, &values[0], NULL), -EINVAL);
	rule.mask.proto = 4;
	assert_int_equal(classifier_set(c, &rule, &values[0], NULL), -EINVAL);
	rule.mask.proto = 0xff;
	assert_int_equal(classifier_set(c, &rule, NULL, NULL), -EINVAL);
	assert_int_equal(classifier_set(c, &rule, &values[0], NULL), 0);
	rule.key.dport = 1;
	assert_null(classifier_del(c, &rule));
	assert_int_equal(classifier_len(c), 1);
	classifier_free(c);
}

static void test_replace_and_delete(void **state)
{
	struct classifier *c = make(4);
	struct classifier_rule rule = {.key = {.proto = 6}, .mask = {.proto = 0xff}, .priority = 5};
	const struct flow_key key = {.proto = 6};
	void *old = &old;

	(void)state;
	assert_int_equal(classifier_set(c, &rule, &values[0], &old), 0);
	assert_null(old);
	assert_int_equal(classifier_set(c, &rule, &values[1], &old), 0);
	assert_ptr_equal(old, &values[0]);
	assert_int_equal(classifier_len(c), 1);
	assert_ptr_equal(classifier_lookup(c, &key), &values[1]);
	rule.priority = 6;
	assert_null(classifier_del(c, &rule));
	assert_int_equal(classifier_set(c, &rule, &values[2], NULL), 0);
	assert_ptr_equal(classifier_lookup(c, &key), &values[2]);
	assert_ptr_equal(classifier_del(c, &rule), &values[2]);
	assert_ptr_equal(classifier_lookup(c, &key), &values[1]);
	rule.priority = 5;
	assert_ptr_equal(classifier_del(c, &rule), &values[1]);
	assert_null(classifier_lookup(c, &key));
	assert_int_equal(classifier_masks(c), 0);
	classifier_free(c);
}

// A tie goes to the older rule, whatever their masks, and a new value does not make a rule younger.
static void test_equal_priorities(void **state)
{
	static const struct flow_key masks[] = {
		{.proto = 0xff}, {.dport = 0xffff}, {.in_port = 0xffff}};
	const struct flow_key key = {.proto = 6, .dport = 80, .in_port = 3};

	(void)state;
	for (unsigned first = 0; first < 3; first++) {
		struct classifier *c = make(4);
		struct classifier_rule rules[3];

		for (unsigned i = 0; i < 3; i++) {
			const unsigned m = (first + i) % 3;

			rules[i] = (struct classifier_rule){.key = reference_and(&key, &masks[m]),
							    .mask = masks[m]};
			assert_int_equal(classifier_set(c, &rules[i], &values[i], NULL), 0);
		}
		assert_ptr_equal(classifier_lookup(c, &key), &values[0]);
		assert_int_equal(classifier_set(c, &rules[0], &values[9], NULL), 0);
		assert_ptr_equal(classifier_lookup(c, &key), &values[9]);
		assert_ptr_equal(classifier_del(c, &rules[0]), &values[9]);
		assert_ptr_equal(classifier_lookup(c, &key), &values[1]);
		assert_int_equal(classifier_set(c, &rules[0], &values[0], NULL), 0);
		assert_ptr_equal(classifier_lookup(c, &key), &values[1]);
		classifier_free(c);
	}
}

static void test_extreme_priorities(void **state)
{
	static const int32_t priorities[] = {0, INT32_MIN, INT32_MAX, -1, 1, INT32_MIN + 1};
	struct classifier *c = make(4);
	const struct flow_key key = {.proto = 6};
	struct classifier_rule rule = {.key = key, .mask = {.proto = 0xff}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(priorities); i++) {
		rule.priority = priorities[i];
		assert_int_equal(classifier_set(c, &rule, &values[i], NULL), 0);
	}
	assert_ptr_equal(classifier_lookup(c, &key), &values[2]);
	for (unsigned i = 0; i < ARRAY_LEN(priorities); i++) {
		rule.priority = priorities[i];
		assert_ptr_equal(classifier_del(c, &rule), &values[i]);
	}
	classifier_free(c);
}

// The limit counts masks in use; rules with known masks are never refused for it.
static void test_mask_limit(void **state)
{
	struct classifier *c = make(8);
	struct classifier_rule rule = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		rule.mask = (struct flow_key){.dport = (uint16_t)(1 + i)};
		assert_int_equal(classifier_set(c, &rule, &values[i], NULL), i < 8 ? 0 : -ENOSPC);
	}
	assert_int_equal(classifier_masks(c), 8);
	rule.mask.dport = 3;
	rule.key.dport = 1;
	assert_int_equal(classifier_set(c, &rule, &values[30], NULL), 0);
	assert_ptr_equal(classifier_del(c, &rule), &values[30]);
	rule.key.dport = 0;
	assert_ptr_equal(classifier_del(c, &rule), &values[2]);
	assert_int_equal(classifier_masks(c), 7);
	rule.mask.dport = 20;
	assert_int_equal(classifier_set(c, &rule, &values[31], NULL), 0);
	rule.mask.dport = 21;
	assert_int_equal(classifier_set(c, &rule, &values[32], NULL), -ENOSPC);
	classifier_free(c);
}

static struct classifier_rule draw_rule(const struct flow_key *masks, unsigned count)
{
	// Often one that is there, so that replacing and deleting have something to do.
	if (ref.count > 0 && reference_draw(&rng, 2))
		return ref.rules[reference_draw(&rng, ref.count)].rule;
	return reference_rule(&rng, &masks[reference_draw(&rng, count)]);
}

static void change(struct classifier *c, const struct classifier_rule *rule, bool add)
{
	void *value = &values[reference_draw(&rng, REFERENCE_MAX * 4)], *old = NULL;
	const unsigned masks = reference_masks(&ref);
	int r;

	if (!add) {
		assert_ptr_equal(classifier_del(c, rule), reference_del(&ref, rule));
		return;
	}
	r = classifier_set(c, rule, value, &old);
	if (r == 0) {
		assert_ptr_equal(old, reference_set(&ref, rule, value));
		return;
	}
	assert_null(old);
	assert_null(reference_get(&ref, rule));
	assert_true(r == -ENOMEM ? fail_every > 0 : r == -ENOSPC && masks >= MASKS_MAX - 1);
}

static void check_size(const struct classifier *c)
{
	assert_int_equal(classifier_len(c), ref.count);
	// A tuple without rules may stay behind when memory was short.
	if (failed == 0)
		assert_int_equal(classifier_masks(c), reference_masks(&ref));
}

// Rules come and go; after each change some keys are looked up.
static void churn(struct classifier *c, const struct flow_key *masks, unsigned count,
		  unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		// Waves of growth and decline.
		const bool add = reference_draw(&rng, 100) < (i / 500 % 2 ? 30 : 70);
		const struct classifier_rule rule = draw_rule(masks, count);

		if (add && ref.count > 600)
			continue;
		change(c, &rule, add);
		check_lookups(c, 2);
		if (i % 64 == 0)
			check_size(c);
	}
	check_lookups(c, 64);
}

static void draw_masks(struct flow_key *masks, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		masks[i] = reference_mask(&rng);
}

static void test_churn_against_reference(void **state)
{
	static const unsigned shapes[] = {1, 3, 12, 60};

	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(shapes); i++) {
		struct classifier *c = make(MASKS_MAX);
		struct flow_key masks[60];

		draw_masks(masks, shapes[i]);
		churn(c, masks, shapes[i], 4000);
		classifier_free(c);
	}
}

// More shapes than may be in use at once.
static void test_churn_at_mask_limit(void **state)
{
	struct classifier *c = make(MASKS_MAX);
	struct flow_key masks[300];

	(void)state;
	draw_masks(masks, 300);
	churn(c, masks, 300, 4000);
	classifier_free(c);
}

// One in ten allocations fails: a refused change leaves no trace, and the rest is as it must be.
static void test_churn_without_memory(void **state)
{
	struct classifier *c = make(MASKS_MAX);
	struct flow_key masks[20];

	(void)state;
	draw_masks(masks, 20);
	failed = 0;
	fail_every = 10;
	churn(c, masks, 20, 6000);
	fail_every = 0;
	assert_true(failed > 100);
	while (ref.count > 0)
		change(c,
		       &(struct classifier_rule){ref.rules[0].rule.key, ref.rules[0].rule.mask,
						 ref.rules[0].rule.priority},
		       false);
	check_lookups(c, 64);
	classifier_free(c);
	failed = 0;
}

static void test_new_without_memory(void **state)
{
	(void)state;
	fail_every = 1;
	assert_null(classifier_new(4, 1));
	fail_every = 0;
	failed = 0;
}

static int collect(const struct classifier_rule *rule, void *value, void *arg)
{
	unsigned *seen = arg;
	const struct reference_rule *r = reference_get(&ref, rule);

	assert_non_null(r);
	assert_ptr_equal(r->value, value);
	(*seen)++;
	return 0;
}

static int stop_at_third(const struct classifier_rule *rule, void *value, void *arg)
{
	unsigned *seen = arg;

	(void)rule;
	(void)value;
	return ++*seen == 3 ? 42 : 0;
}

static void test_foreach(void **state)
{
	struct classifier *c = make(MASKS_MAX);
	struct flow_key masks[10];
	unsigned seen = 0;

	(void)state;
	assert_int_equal(classifier_foreach(c, collect, &seen), 0);
	draw_masks(masks, 10);
	churn(c, masks, 10, 400);
	assert_true(ref.count > 3);
	assert_int_equal(classifier_foreach(c, collect, &seen), 0);
	assert_int_equal(seen, ref.count);
	seen = 0;
	assert_int_equal(classifier_foreach(c, stop_at_third, &seen), 42);
	assert_int_equal(seen, 3);
	classifier_free(c);
}

// Cost of one change does not grow with the number of rules: all of them one by one, and away
// again.
static void test_many_rules(void **state)
{
	struct classifier *c = make(4);
	struct classifier_rule rule = {.mask = {.dport = 0xffff}};
	const uint32_t count = 100000;

	(void)state;
	memset(&rule.mask.dst, 0xff, sizeof(rule.mask.dst));
	for (uint32_t i = 0; i < count; i++) {
		memcpy(rule.key.dst.b + 12, &i, 4);
		rule.priority = (int32_t)(i % 1000);
		assert_int_equal(classifier_set(c, &rule, &values[i % 1000], NULL), 0);
	}
	assert_int_equal(classifier_len(c), count);
	for (uint32_t i = 0; i < count; i++) {
		memcpy(rule.key.dst.b + 12, &i, 4);
		rule.priority = (int32_t)(i % 1000);
		assert_ptr_equal(classifier_lookup(c, &rule.key), &values[i % 1000]);
		assert_ptr_equal(classifier_del(c, &rule), &values[i % 1000]);
	}
	assert_int_equal(classifier_masks(c), 0);
	classifier_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_replace_and_delete),
		cmocka_unit_test(test_equal_priorities),
		cmocka_unit_test(test_extreme_priorities),
		cmocka_unit_test(test_mask_limit),
		cmocka_unit_test(test_churn_against_reference),
		cmocka_unit_test(test_churn_at_mask_limit),
		cmocka_unit_test(test_churn_without_memory),
		cmocka_unit_test(test_new_without_memory),
		cmocka_unit_test(test_foreach),
		cmocka_unit_test(test_many_rules),
	};

	rng = reference_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
