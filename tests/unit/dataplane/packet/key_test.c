// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include "packet/key.h"

static struct flow_key make(void)
{
	struct flow_key k;

	for (size_t i = 0; i < sizeof(k); i++)
		((uint8_t *)&k)[i] = (uint8_t)(i * 37 + 1);
	return k;
}

// Each bit of a key makes another key and another hash.
static void test_every_bit_counts(void **state)
{
	const struct flow_key a = make();

	(void)state;
	assert_true(key_is_equal(&a, &a));
	for (size_t bit = 0; bit < 8 * sizeof(a); bit++) {
		struct flow_key b = a;

		((uint8_t *)&b)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(key_is_equal(&a, &b));
		assert_int_not_equal(key_hash(&a, 5), key_hash(&b, 5));
	}
}

static void test_words(void **state)
{
	const struct flow_key k = make();

	(void)state;
	for (unsigned i = 0; i < KEY_WORDS; i++) {
		uint64_t word = key_word(&k, i);

		assert_memory_equal(&word, (const uint8_t *)&k + 8 * i, 8);
	}
}

static void test_seed_changes_hash(void **state)
{
	const struct flow_key k = make();
	unsigned same = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 1000; seed++)
		same += key_hash(&k, seed) == key_hash(&k, seed + 1000);
	assert_true(same <= 1);
}

// Keys that differ in few bits, as those of one pod do, spread over the buckets.
static void test_spread(void **state)
{
	unsigned buckets[256] = {0};

	(void)state;
	for (unsigned n = 0; n < 256 * 64; n++) {
		struct flow_key k = {.proto = 6, .dport = 80, .sport = (uint16_t)n};

		k.dst.b[15] = (uint8_t)(n >> 8);
		buckets[key_hash(&k, 99) % 256]++;
	}
	for (unsigned i = 0; i < 256; i++)
		assert_in_range(buckets[i], 20, 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_bit_counts),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_seed_changes_hash),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
