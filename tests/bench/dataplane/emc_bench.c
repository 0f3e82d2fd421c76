// SPDX-License-Identifier: Apache-2.0
// Lookup cost of the exact-match cache and of the classifier; not part of any test.
//
//	make tools && build/tests/bench/dataplane/emc_bench
//
// The cache is compared with a reference in the order of Open vSwitch: hash, flow alive (by its
// pointer), memcmp of the key. Both read one field of the decision on a hit. Rounds are interleaved
// and the best of each is shown, because other load on the machine only ever adds.
#include <rte_cycles.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "flow/classifier.h"
#include "flow/emc.h"

#define ENTRIES 8192
#define BURST 32
#define LOOKUPS (1u << 15) // of one round: shorter than a time slice
#define ROUNDS 300

static uint64_t rng = 0x9e3779b97f4a7c15;

static uint32_t draw(uint32_t limit)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)((rng >> 16) % limit);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *need(void *p)
{
	if (p == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

static struct flow_key key_of(uint32_t n)
{
	struct flow_key k = {.proto = 6, .sport = (uint16_t)(n * 7), .dport = 80, .in_port = 1};

	k.src.b[10] = k.src.b[11] = k.dst.b[10] = k.dst.b[11] = 0xff;
	memcpy(k.src.b + 12, &n, 4);
	memcpy(k.dst.b + 12, &(uint32_t){n * 2654435761u}, 4);
	return k;
}

// ---- the reference ----

struct ovs_flow {
	bool dead;
	uint16_t out_port;
	char rest[250]; // statistics, actions, references
};

struct ovs_entry {
	struct ovs_flow *flow;
	uint32_t hash, len;
	struct flow_key key;
} CACHE_ALIGNED;

static struct ovs_entry *ovs_cache;

// A call, like emc_lookup.
static __attribute__((noinline)) struct ovs_flow *ovs_lookup(const struct flow_key *key,
							     uint32_t hash)
{
	const uint32_t slots[2] = {hash % ENTRIES, hash >> 13 & (ENTRIES - 1)};

	for (int i = 0; i < 2; i++) {
		const struct ovs_entry *e = &ovs_cache[slots[i]];

		if (e->hash == hash && e->flow != NULL &&
		    !__atomic_load_n(&e->flow->dead, __ATOMIC_RELAXED) &&
		    memcmp(&e->key, key, e->len) == 0)
			return e->flow;
	}
	return NULL;
}

static void ovs_insert(const struct flow_key *key, uint32_t hash, bool dead)
{
	struct ovs_entry *e = &ovs_cache[hash % ENTRIES];

	if (e->flow != NULL)
		e = &ovs_cache[hash >> 13 & (ENTRIES - 1)];
	free(e->flow);
	*e = (struct ovs_entry){.flow = need(calloc(1, sizeof(struct ovs_flow))),
				.hash = hash,
				.len = sizeof(*key),
				.key = *key};
	e->flow->dead = dead;
	e->flow->out_port = 1;
}

// ---- exact-match cache ----

struct traffic {
	uint32_t flows;
	struct flow_key *keys;
	uint32_t *hashes;
	uint32_t *order; // LOOKUPS flow numbers
	struct emc *emc;
};

static uint64_t sink;

static double run_ovs(const struct traffic *t)
{
	const double start = now_ns();

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		const uint32_t n = t->order[i];
		const struct ovs_flow *f = ovs_lookup(&t->keys[n], t->hashes[n]);

		sink += f != NULL ? f->out_port : 0;
	}
	return (now_ns() - start) / LOOKUPS;
}

static double run_emc(const struct traffic *t, bool prefetch)
{
	const double start = now_ns();

	for (uint32_t i = 0; i < LOOKUPS; i += BURST) {
		for (uint32_t j = i; prefetch && j < i + BURST; j++)
			emc_prefetch(t->emc, t->hashes[t->order[j]]);
		for (uint32_t j = i; j < i + BURST; j++) {
			const uint32_t n = t->order[j];
			const struct resolved *r = emc_lookup(t->emc, &t->keys[n], t->hashes[n], 2);

			sink += r != NULL ? r->out_port : 0;
		}
	}
	return (now_ns() - start) / LOOKUPS;
}

// Entries of dead flows have an old generation, and stay: nothing is refilled here.
static void fill(struct traffic *t, double dead_share)
{
	for (uint32_t n = 0; n < t->flows; n++) {
		const bool dead = draw(1000) < dead_share * 1000;
		struct resolved *r;

		t->keys[n] = key_of(n);
		t->hashes[n] = key_hash(&t->keys[n], 42);
		ovs_insert(&t->keys[n], t->hashes[n], dead);
		r = emc_insert(t->emc, &t->keys[n], t->hashes[n], dead ? 1 : 2);
		if (r != NULL)
			*r = (struct resolved){.out_port = 1};
	}
	for (uint32_t i = 0; i < LOOKUPS; i++)
		t->order[i] = draw(t->flows);
}

static void empty_ovs(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		free(ovs_cache[i].flow);
	memset(ovs_cache, 0, ENTRIES * sizeof(*ovs_cache));
}

static void bench_emc(uint32_t flows, double dead_share)
{
	double best[3] = {1e9, 1e9, 1e9};
	struct traffic t = {
		.flows = flows,
		.keys = need(calloc(flows, sizeof(*t.keys))),
		.hashes = need(calloc(flows, sizeof(*t.hashes))),
		.order = need(calloc(LOOKUPS, sizeof(*t.order))),
		.emc = need(emc_new(ENTRIES, 1)),
	};

	fill(&t, dead_share);
	for (int round = 0; round < ROUNDS; round++) {
		const double got[3] = {run_ovs(&t), run_emc(&t, false), run_emc(&t, true)};

		for (int i = 0; i < 3; i++)
			best[i] = got[i] < best[i] ? got[i] : best[i];
	}
	printf("%6u  %4.1f  %9.2f  %6.2f  %8.2f  %5.2f  %9.2f\n", flows, dead_share, best[0],
	       best[1], best[2], best[0] / best[1], best[0] / best[2]);
	empty_ovs();
	emc_free(t.emc);
	free(t.keys);
	free(t.hashes);
	free(t.order);
}

// ---- classifier ----

#define RULES 1024 // per mask

static struct classifier_rule rule_of(uint32_t mask, uint32_t n, uint32_t masks)
{
	struct classifier_rule r = {.priority = (int32_t)(masks - mask)};

	// Distinct masks: a full destination, and bits of the source that no rule asks to be set.
	memset(&r.mask.dst, 0xff, sizeof(r.mask.dst));
	r.mask.src.b[0] = (uint8_t)mask;
	r.key.dst = key_of(mask * RULES + n).dst;
	return r;
}

struct rows {
	struct flow_key keys[RULES];
	const struct flow_key *pointers[RULES];
};

static double run_single(const struct classifier *c, const struct rows *rows)
{
	const uint64_t start = rte_rdtsc();

	for (uint32_t i = 0; i < 16 * RULES; i++)
		sink += (uintptr_t)classifier_lookup(c, &rows->keys[i % RULES]);
	return (double)(rte_rdtsc() - start) / (16 * RULES);
}

static double run_burst(const struct classifier *c, const struct rows *rows)
{
	const uint64_t start = rte_rdtsc();
	void *got[BURST];

	for (uint32_t i = 0; i < 16 * RULES; i += BURST) {
		classifier_lookup_burst(c, rows->pointers + i % RULES, BURST, got);
		sink += (uintptr_t)got[0];
	}
	return (double)(rte_rdtsc() - start) / (16 * RULES);
}

// Keys of the rules of one mask, in random order.
static void draw_rows(struct rows *rows, uint32_t mask, uint32_t masks)
{
	for (uint32_t i = 0; i < RULES; i++) {
		rows->keys[i] = rule_of(mask, draw(RULES), masks).key;
		rows->pointers[i] = &rows->keys[i];
	}
}

static void bench_keys(const struct classifier *c, uint32_t masks, uint32_t mask)
{
	double best[2] = {1e9, 1e9};
	static struct rows rows;

	draw_rows(&rows, mask, masks);
	for (int round = 0; round < ROUNDS; round++) {
		const double single = run_single(c, &rows), burst = run_burst(c, &rows);

		best[0] = single < best[0] ? single : best[0];
		best[1] = burst < best[1] ? burst : best[1];
	}
	printf("%5u  %5s  %7.0f  %6.0f\n", masks, mask == 0 ? "first" : "last", best[0], best[1]);
}

static void bench_classifier(uint32_t masks)
{
	struct classifier *c = need(classifier_new(64, 42));

	for (uint32_t m = 0; m < masks; m++) {
		for (uint32_t n = 0; n < RULES; n++) {
			const struct classifier_rule rule = rule_of(m, n, masks);

			if (classifier_set(c, &rule, c, NULL) < 0)
				exit(1);
		}
	}
	bench_keys(c, masks, 0);
	if (masks > 1)
		bench_keys(c, masks, masks - 1);
	classifier_free(c);
}

int main(void)
{
	static const uint32_t flows[] = {256, 1024, 4096}, masks[] = {1, 8, 64};
	static const double dead[] = {0, 0.1, 0.5};

	ovs_cache = need(aligned_alloc(CACHE_LINE, ENTRIES * sizeof(*ovs_cache)));
	memset(ovs_cache, 0, ENTRIES * sizeof(*ovs_cache));
	printf("exact-match cache, ns a lookup (best of %d)\n", ROUNDS);
	printf("%6s  %4s  %9s  %6s  %8s  %5s  %9s\n", "flows", "dead", "reference", "emc",
	       "prefetch", "ratio", "(prefetch)");
	for (size_t i = 0; i < ARRAY_LEN(flows); i++) {
		for (size_t j = 0; j < ARRAY_LEN(dead); j++)
			bench_emc(flows[i], dead[j]);
	}
	printf("\nclassifier, %d rules a mask, TSC cycles a lookup (best of %d)\n", RULES, ROUNDS);
	printf("%5s  %5s  %7s  %6s\n", "masks", "match", "single", "burst");
	for (size_t i = 0; i < ARRAY_LEN(masks); i++)
		bench_classifier(masks[i]);
	free(ovs_cache);
	return sink == 0;
}
