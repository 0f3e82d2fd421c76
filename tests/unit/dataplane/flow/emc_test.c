// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/compiler.h"
#include "flow/emc.h"

#define ENTRIES 8192
#define LIVE 4096

static uint64_t random_state;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

// A new seed each run, or the one that a failed run printed.
static void seed_random(void)
{
	const char *text = getenv("TEST_SEED");

	if (text != NULL)
		random_state = strtoull(text, NULL, 0);
	else if (getrandom(&random_state, sizeof(random_state), 0) < 0)
		random_state = 0;
	random_state |= 1;
	print_message("TEST_SEED=0x%llx\n", (unsigned long long)random_state);
}

static struct flow_key key_of(uint32_t n)
{
	struct flow_key k = {.proto = 6, .in_port = 1, .sport = 1, .dport = 80};

	memcpy(k.src.b + 12, &n, sizeof(n));
	return k;
}

static uint32_t hash_of(const struct flow_key *k)
{
	return key_hash(k, 0x5eed);
}

// What a worker does: look up, and on a miss decide and offer the decision. True on a hit.
static bool use(struct emc *e, uint32_t n, uint32_t generation)
{
	const struct flow_key k = key_of(n);
	struct resolved *r = emc_lookup(e, &k, hash_of(&k), generation);

	if (r != NULL) {
		assert_int_equal(r->mtu, n);
		assert_int_equal(r->out_port, (uint16_t)generation);
		return true;
	}
	r = emc_insert(e, &k, hash_of(&k), generation);
	if (r != NULL)
		*r = (struct resolved){.mtu = n, .out_port = (uint16_t)generation};
	return false;
}

static unsigned use_all(struct emc *e, uint32_t from, uint32_t count, uint32_t generation)
{
	unsigned hits = 0;

	for (uint32_t i = 0; i < count; i++)
		hits += use(e, from + i, generation);
	return hits;
}

static struct emc *make(void)
{
	struct emc *e = emc_new(ENTRIES, 7);

	assert_non_null(e);
	return e;
}

static struct emc_stats stats(const struct emc *e)
{
	struct emc_stats s;

	emc_stats_get(e, &s);
	return s;
}

static void test_sizes(void **state)
{
	static const uint32_t bad[] = {0, 1, 3, 6, 8191};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_null(emc_new(bad[i], 1));
	for (uint32_t n = 2; n <= 1u << 17; n *= 2) {
		struct emc *e = emc_new(n, 1);

		assert_non_null(e);
		for (uint32_t i = 0; i < 100; i++)
			use(e, i, 1);
		emc_free(e);
	}
	emc_free(NULL);
}

static void test_hit_after_insert(void **state)
{
	struct emc *e = make();

	(void)state;
	emc_prefetch(e, 0xffffffff);
	assert_false(use(e, 1, 1));
	assert_true(use(e, 1, 1));
	assert_false(use(e, 2, 1));
	assert_true(use(e, 1, 1));
	assert_int_equal(stats(e).lookups, 4);
	assert_int_equal(stats(e).misses, 2);
	assert_int_equal(stats(e).inserts, 2);
	emc_free(e);
}

// An empty slot is all zeros, and so is this key.
static void test_zero_key_in_empty_cache(void **state)
{
	const struct flow_key zero = {0};
	struct emc *e = make();
	struct resolved *r;

	(void)state;
	assert_null(emc_lookup(e, &zero, 0, 0));
	r = emc_insert(e, &zero, 0, 0);
	assert_non_null(r);
	r->mtu = 5;
	assert_ptr_equal(emc_lookup(e, &zero, 0, 0), r);
	assert_null(emc_lookup(e, &zero, 1, 0));
	emc_free(e);
}

// Keys whose hashes are equal share two slots, but never a decision.
static void test_equal_hashes(void **state)
{
	struct emc *e = make();
	struct flow_key k[4];
	struct resolved *r[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		k[i] = key_of(i);
		r[i] = emc_insert(e, &k[i], 0xabcdef, 1);
		if (r[i] != NULL)
			r[i]->mtu = i;
	}
	assert_non_null(r[0]);
	assert_non_null(r[1]);
	for (uint32_t i = 0; i < 4; i++) {
		struct resolved *got = emc_lookup(e, &k[i], 0xabcdef, 1);

		assert_true(got == NULL || got->mtu == i);
	}
	emc_free(e);
}

// Any one byte that differs makes another key.
static void test_every_byte_counts(void **state)
{
	struct flow_key k = key_of(1);
	struct emc *e = make();

	(void)state;
	assert_non_null(emc_insert(e, &k, 77, 1));
	for (size_t i = 0; i < sizeof(k); i++) {
		((uint8_t *)&k)[i] ^= 1;
		assert_null(emc_lookup(e, &k, 77, 1));
		((uint8_t *)&k)[i] ^= 1;
	}
	assert_non_null(emc_lookup(e, &k, 77, 1));
	emc_free(e);
}

static void test_same_key_has_one_slot(void **state)
{
	struct emc *e = make();

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		const struct flow_key k = key_of(i);
		struct resolved *a = emc_insert(e, &k, hash_of(&k), 1);

		if (a != NULL)
			assert_ptr_equal(emc_insert(e, &k, hash_of(&k), 1), a);
	}
	emc_free(e);
}

static void test_stale_is_a_miss_and_refilled(void **state)
{
	struct emc *e = make();

	(void)state;
	use_all(e, 0, 3000, 1);
	use_all(e, 0, 3000, 1);
	for (uint32_t generation = 2; generation < 6; generation++) {
		for (uint32_t n = 0; n < 100; n++) {
			const struct flow_key k = key_of(n);

			assert_null(emc_lookup(e, &k, hash_of(&k), generation));
			assert_non_null(emc_insert(e, &k, hash_of(&k), generation));
			assert_null(emc_lookup(e, &k, hash_of(&k), generation - 1));
		}
	}
	emc_free(e);
}

// Even under the highest pressure a known key gets its slot back at once.
static void test_refill_under_pressure(void **state)
{
	struct emc *e = make();

	(void)state;
	for (uint32_t i = 0; i < 400000; i++)
		use(e, 100000 + i % 50000, 1);
	assert_true(stats(e).shift > 0);
	for (uint32_t n = 0; n < 50000; n++) {
		const struct flow_key k = key_of(100000 + n);

		if (emc_lookup(e, &k, hash_of(&k), 1) == NULL)
			continue;
		assert_non_null(emc_insert(e, &k, hash_of(&k), 2));
		assert_non_null(emc_lookup(e, &k, hash_of(&k), 2));
		assert_non_null(emc_insert(e, &k, hash_of(&k), 1));
	}
	emc_free(e);
}

#define KNOWN 20000

// Every hit, under random generations, against what was put in last.
static void test_random_against_reference(void **state)
{
	static struct {
		uint32_t generation, tag;
	} known[KNOWN];
	struct emc *e = emc_new(1024, random64());
	uint32_t generation = 1, hits = 0;

	(void)state;
	assert_non_null(e);
	for (uint32_t step = 1; step < 1000000; step++) {
		const uint32_t n = random64() % 4 ? random64() % 500 : random64() % KNOWN;
		const struct flow_key k = key_of(n);
		const uint32_t hash = (uint32_t)key_hash(&k, 1) & 0xffff; // many equal ones
		struct resolved *r;

		if (random64() % 5000 == 0)
			generation++;
		r = emc_lookup(e, &k, hash, generation);
		if (r != NULL) {
			hits++;
			assert_int_equal(known[n].generation, generation);
			assert_int_equal(r->mtu, known[n].tag);
			continue;
		}
		r = emc_insert(e, &k, hash, generation);
		if (r == NULL)
			continue;
		*r = (struct resolved){.mtu = step};
		known[n].generation = generation;
		known[n].tag = step;
	}
	assert_true(hits > 400000);
	emc_free(e);
}

// One policy changes: each live flow is decided once again, not a hundred times.
static void test_recovery_after_change(void **state)
{
	struct emc *e = make();
	unsigned hits = 0, misses = 0;

	(void)state;
	for (int round = 0; round < 4; round++)
		hits = use_all(e, 0, LIVE, 1);
	assert_true(hits >= LIVE * 97 / 100);
	hits = use_all(e, 0, LIVE, 2);
	assert_int_equal(hits, 0);
	misses = LIVE;
	hits = use_all(e, 0, LIVE, 2);
	print_message("hit rate %.3f after %.2f decisions a flow\n", (double)hits / LIVE,
		      (double)misses / LIVE);
	assert_true(hits >= LIVE * 95 / 100);
	emc_free(e);
}

// Far more flows than slots: the share of hits is what the slots allow, and few entries are
// written.
static void test_overload(void **state)
{
	const unsigned flows = 50000, lookups = 1000000;
	struct emc *e = make();
	struct emc_stats before, after;
	unsigned hits = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++)
		use(e, (uint32_t)(random64() % flows), 1);
	before = stats(e);
	for (unsigned i = 0; i < lookups; i++)
		hits += use(e, (uint32_t)(random64() % flows), 1);
	after = stats(e);
	print_message("hits %.3f of at most %.3f, insertions %.4f a lookup, shift %u\n",
		      (double)hits / lookups, (double)ENTRIES / flows,
		      (double)(after.inserts - before.inserts) / lookups, after.shift);
	assert_true((uint64_t)hits * flows >= (uint64_t)lookups * ENTRIES * 9 / 10);
	assert_true(after.inserts - before.inserts < lookups / 20);
	emc_free(e);
}

// Half of the packets belong to flows that never come back.
static void test_live_set_survives_flood(void **state)
{
	struct emc *e = make();
	uint32_t flood = 1000000;
	unsigned hits = 0;

	(void)state;
	for (int round = 0; round < 4; round++)
		use_all(e, 0, LIVE, 1);
	for (int round = 0; round < 50; round++) {
		for (uint32_t n = 0; n < LIVE; n++) {
			hits += use(e, n, 1);
			use(e, flood++, 1);
		}
	}
	print_message("live flows: hit rate %.4f under a flood\n", (double)hits / (50 * LIVE));
	assert_true(hits >= 50u * LIVE * 95 / 100);
	emc_free(e);
}

// When the flood ends, or other flows take over, the cache serves them soon.
static void test_new_flows_after_flood(void **state)
{
	struct emc *e = make();
	unsigned hits = 0;
	int rounds = 0;

	(void)state;
	use_all(e, 0, LIVE, 1);
	use_all(e, 0, LIVE, 1);
	use_all(e, 1000000, 300000, 1);
	for (; rounds < 100 && hits < LIVE * 97 / 100; rounds++)
		hits = use_all(e, 2000000, LIVE, 1);
	print_message("new flows cached after %d rounds\n", rounds);
	assert_true(rounds <= 40);
	for (rounds = 0; rounds < 100; rounds++)
		use_all(e, 2000000, LIVE, 1);
	assert_int_equal(stats(e).shift, 0);
	emc_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_hit_after_insert),
		cmocka_unit_test(test_zero_key_in_empty_cache),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_every_byte_counts),
		cmocka_unit_test(test_same_key_has_one_slot),
		cmocka_unit_test(test_stale_is_a_miss_and_refilled),
		cmocka_unit_test(test_refill_under_pressure),
		cmocka_unit_test(test_random_against_reference),
		cmocka_unit_test(test_recovery_after_change),
		cmocka_unit_test(test_overload),
		cmocka_unit_test(test_live_set_survives_flood),
		cmocka_unit_test(test_new_flows_after_flood),
	};

	seed_random();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
