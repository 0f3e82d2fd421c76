// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <limits.h>

#include "base/compiler.h"
#include "flow/classifier_tuple.h"

#define SEED 77

static struct reference_random rng;

static struct classifier_tuple *make(const struct flow_key *mask)
{
	struct classifier_tuple *t = classifier_tuple_new(mask);

	assert_non_null(t);
	return t;
}

static struct classifier_node *add(struct classifier_tuple *t, const struct classifier_rule *rule)
{
	struct classifier_node *n = classifier_tuple_node(t, rule, SEED);

	assert_non_null(n);
	assert_int_equal(classifier_tuple_count(t, rule->priority), 0);
	classifier_tuple_insert(t, n);
	return n;
}

// Only the words that a mask touches are kept and hashed.
static void test_words_of_mask(void **state)
{
	struct flow_key masks[] = {
		{.proto = 0},
		{.proto = 0xff},
		{.dst = {{[15] = 0xff}}, .proto = 0xff},
		{.src = {{0xff}}, .dst = {{0xff}}},
		{.src = {{0xff, [8] = 1}}, .dst = {{0xff, [15] = 1}}, .frag = 1},
	};
	static const unsigned words[] = {0, 1, 2, 2, 5};

	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(masks); i++) {
		struct classifier_tuple *t = make(&masks[i]);
		uint64_t a[CLASSIFIER_WORDS] = {0}, b[CLASSIFIER_WORDS] = {0};
		struct flow_key key = reference_key(&rng), masked = reference_and(&key, &masks[i]);

		assert_int_equal(t->words, words[i]);
		classifier_pack(t, &key, a);
		classifier_pack(t, &masked, b);
		assert_memory_equal(a, b, sizeof(a));
		classifier_tuple_free(t);
	}
	classifier_tuple_free(NULL);
}

static void test_max_priority(void **state)
{
	static const int32_t priorities[] = {5, -3, 5, 100, INT32_MAX, -3, INT32_MIN, 7};
	const struct flow_key mask = {.proto = 0xff};
	struct classifier_tuple *t = make(&mask);

	(void)state;
	assert_int_equal(classifier_tuple_max(t), INT32_MIN);
	for (unsigned i = 0; i < ARRAY_LEN(priorities); i++)
		assert_int_equal(classifier_tuple_count(t, priorities[i]), 0);
	assert_int_equal(classifier_tuple_max(t), INT32_MAX);
	classifier_tuple_uncount(t, INT32_MAX);
	assert_int_equal(classifier_tuple_max(t), 100);
	classifier_tuple_uncount(t, 100);
	classifier_tuple_uncount(t, 7);
	assert_int_equal(classifier_tuple_max(t), 5);
	classifier_tuple_uncount(t, 5);
	assert_int_equal(classifier_tuple_max(t), 5);
	classifier_tuple_uncount(t, 5);
	assert_int_equal(classifier_tuple_max(t), -3);
	classifier_tuple_free(t);
}

// Against a plain array, with priorities drawn from few and from many values.
static void test_max_priority_random(void **state)
{
	(void)state;
	for (uint32_t range = 2; range <= 2000; range *= 10) {
		const struct flow_key mask = {.proto = 0xff};
		struct classifier_tuple *t = make(&mask);
		int32_t all[500];
		unsigned n = 0;

		for (int step = 0; step < 4000; step++) {
			int32_t max = INT32_MIN;

			if (n < 500 && (n == 0 || reference_draw(&rng, 2))) {
				all[n] = (int32_t)reference_draw(&rng, range) - 1;
				assert_int_equal(classifier_tuple_count(t, all[n++]), 0);
			} else {
				const unsigned at = reference_draw(&rng, n);

				classifier_tuple_uncount(t, all[at]);
				all[at] = all[--n];
			}
			for (unsigned i = 0; i < n; i++)
				max = all[i] > max ? all[i] : max;
			assert_int_equal(classifier_tuple_max(t), max);
		}
		classifier_tuple_free(t);
	}
}

// Rules of one key come out highest priority first, in whatever order they went in.
static void test_chain_order(void **state)
{
	const struct flow_key mask = {.dport = 0xffff};
	struct classifier_tuple *t = make(&mask);
	int32_t last = INT32_MAX;
	unsigned seen = 0;

	(void)state;
	for (int32_t i = 0; i < 50; i++) {
		const struct classifier_rule rule = {
			.key = {.dport = 80}, .mask = mask, .priority = i * 7 % 50};

		add(t, &rule);
		// Others between them, so that the table grows.
		for (uint16_t other = 0; other < 4; other++) {
			const struct classifier_rule more = {
				.key = {.dport = (uint16_t)(100 + i * 4 + other)}, .mask = mask};

			add(t, &more);
		}
	}
	assert_int_equal(t->rules, 250);
	for (uint32_t i = 0; i <= atomic_load(&t->table)->mask; i++) {
		struct classifier_node *n = atomic_load(&atomic_load(&t->table)->buckets[i]);

		for (; n != NULL; n = atomic_load(&n->next)) {
			const struct flow_key key = {.dport = 80};
			uint64_t words[CLASSIFIER_WORDS];

			classifier_pack(t, &key, words);
			if (!classifier_is_key(n, words, t->words,
					       classifier_hash(words, t->words, SEED)))
				continue;
			assert_true(n->priority < last);
			last = n->priority;
			seen++;
		}
	}
	assert_int_equal(seen, 50);
	classifier_tuple_free(t);
}

static void test_find_and_remove(void **state)
{
	const struct flow_key mask = {.dport = 0xffff};
	struct classifier_tuple *t = make(&mask);
	struct classifier_rule rule = {.mask = mask};

	(void)state;
	for (uint16_t i = 0; i < 1000; i++) {
		rule.key.dport = i;
		rule.priority = i % 3;
		add(t, &rule);
	}
	assert_true(atomic_load(&t->table)->mask >= 511);
	for (uint16_t i = 0; i < 1000; i++) {
		classifier_link *link;

		rule.key.dport = i;
		rule.priority = i % 3;
		link = classifier_tuple_find(t, &rule, SEED);
		assert_non_null(link);
		rule.priority++;
		assert_null(classifier_tuple_find(t, &rule, SEED));
		rule.priority--;
		classifier_tuple_remove(t, link);
		assert_null(classifier_tuple_find(t, &rule, SEED));
	}
	assert_int_equal(t->rules, 0);
	assert_int_equal(classifier_tuple_max(t), INT32_MIN);
	classifier_tuple_free(t);
}

static int count_rule(const struct classifier_rule *rule, void *value, void *arg)
{
	bool *seen = arg;

	(void)value;
	assert_int_equal(rule->mask.dport, 0xffff);
	assert_int_equal(rule->priority, rule->key.dport);
	assert_false(seen[rule->key.dport]);
	seen[rule->key.dport] = true;
	return 0;
}

static void test_foreach(void **state)
{
	const struct flow_key mask = {.dport = 0xffff};
	struct classifier_tuple *t = make(&mask);
	bool seen[300] = {0};

	(void)state;
	for (uint16_t i = 0; i < 300; i++) {
		const struct classifier_rule rule = {
			.key = {.dport = i}, .mask = mask, .priority = i};

		add(t, &rule);
	}
	assert_int_equal(classifier_tuple_foreach(t, count_rule, seen), 0);
	for (unsigned i = 0; i < 300; i++)
		assert_true(seen[i]);
	classifier_tuple_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_of_mask),       cmocka_unit_test(test_max_priority),
		cmocka_unit_test(test_max_priority_random), cmocka_unit_test(test_chain_order),
		cmocka_unit_test(test_find_and_remove),     cmocka_unit_test(test_foreach),
	};

	rng = reference_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
