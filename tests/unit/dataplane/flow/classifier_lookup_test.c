// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/compiler.h"
#include "core/rcu.h"
#include "flow/classifier_parts.h"
#include "harness/eal.h"

#define LOOKUPS 300000 // of one reader
#define QUIESCENT_EVERY 64
#define POISON 0xdeadULL

static struct reference_random rng;

static void test_burst_like_single(void **state)
{
	struct classifier *c = classifier_new(64, 99);
	struct flow_key masks[30], keys[64];
	const struct flow_key *pointers[64];
	void *got[64];

	(void)state;
	assert_non_null(c);
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
		pointers[i] = &keys[i];
	for (unsigned i = 0; i < ARRAY_LEN(masks); i++)
		masks[i] = reference_mask(&rng);
	for (unsigned n = 0; n <= 64; n++) {
		const struct classifier_rule rule = reference_rule(&rng, &masks[n % 30]);

		assert_int_equal(classifier_set(c, &rule, &masks[n % 30], NULL), 0);
		for (unsigned i = 0; i < n; i++)
			keys[i] = reference_key(&rng);
		memset(got, 0xee, sizeof(got));
		classifier_lookup_burst(c, pointers, n, got);
		for (unsigned i = 0; i < n; i++)
			assert_ptr_equal(got[i], classifier_lookup(c, &keys[i]));
		for (unsigned i = n; i < 64; i++)
			assert_int_equal((uintptr_t)got[i] & 0xff, 0xee);
	}
	classifier_free(c);
}

// Two keys with equal 32-bit hashes under the classifier's seed.
static bool find_twins(uint64_t seed, uint64_t ret[2])
{
	const uint32_t slots = 1u << 21;
	uint64_t *seen = calloc(slots, sizeof(*seen));
	bool found = false;

	assert_non_null(seen);
	for (uint64_t n = 1; n < 1000000 && !found; n++) {
		const uint32_t hash = classifier_hash(&n, 1, seed);
		uint64_t *at = &seen[hash % slots];

		if (*at != 0 && classifier_hash(at, 1, seed) == hash) {
			ret[0] = *at;
			ret[1] = n;
			found = true;
		}
		*at = n;
	}
	free(seen);
	return found;
}

static void test_equal_hashes(void **state)
{
	const uint64_t seed = 0x1234567;
	struct classifier *c = classifier_new(4, seed);
	struct classifier_rule a = {0}, b = {0};
	uint64_t twins[2] = {0};

	(void)state;
	assert_non_null(c);
	assert_true(find_twins(seed, twins));
	memset(a.mask.src.b, 0xff, 8);
	b = a;
	memcpy(a.key.src.b, &twins[0], 8);
	memcpy(b.key.src.b, &twins[1], 8);
	assert_int_equal(classifier_set(c, &a, &a, NULL), 0);
	assert_null(classifier_lookup(c, &b.key));
	assert_int_equal(classifier_set(c, &b, &b, NULL), 0);
	assert_ptr_equal(classifier_lookup(c, &a.key), &a);
	assert_ptr_equal(classifier_lookup(c, &b.key), &b);
	assert_ptr_equal(classifier_del(c, &a), &a);
	assert_null(classifier_lookup(c, &a.key));
	assert_ptr_equal(classifier_lookup(c, &b.key), &b);
	classifier_free(c);
}

// ---- one reader, one writer ----

// A value lives on the heap and is poisoned when its grace period is over.
struct value {
	uint64_t check; // of the key it was made for
};

static void value_free(void *p)
{
	struct value *v = p;

	v->check = POISON;
	free(v);
}

static struct value *value_new(uint64_t check)
{
	struct value *v = malloc(sizeof(*v));

	assert_non_null(v);
	v->check = check;
	return v;
}

struct shared {
	struct classifier *c;
	_Atomic bool done;
	bool burst;
	// What the reader saw; read after it ended.
	uint64_t missed, wrong, hits;
};

#define ALWAYS 200 // keys that have a rule at every moment

static struct flow_key always_key(unsigned n)
{
	return (struct flow_key){.dport = (uint16_t)n, .proto = 200, .in_port = 9};
}

static void judge(struct shared *s, unsigned n, const struct value *v)
{
	if (v == NULL)
		s->missed++;
	else if (v->check != n)
		s->wrong++;
	else
		s->hits++;
}

static void read_burst(struct shared *s, unsigned from)
{
	const struct flow_key *pointers[QUIESCENT_EVERY];
	struct flow_key keys[QUIESCENT_EVERY];
	void *got[QUIESCENT_EVERY];

	for (unsigned i = 0; i < QUIESCENT_EVERY; i++) {
		keys[i] = always_key((from + i) % ALWAYS);
		pointers[i] = &keys[i];
	}
	classifier_lookup_burst(s->c, pointers, QUIESCENT_EVERY, got);
	for (unsigned i = 0; i < QUIESCENT_EVERY; i++)
		judge(s, (from + i) % ALWAYS, got[i]);
}

static void read_single(struct shared *s, unsigned from)
{
	for (unsigned i = 0; i < QUIESCENT_EVERY; i++) {
		const struct flow_key key = always_key((from + i) % ALWAYS);

		judge(s, (from + i) % ALWAYS, classifier_lookup(s->c, &key));
	}
}

static void *reader(void *arg)
{
	struct shared *s = arg;

	rcu_register(0);
	for (unsigned i = 0; i < LOOKUPS; i += QUIESCENT_EVERY) {
		if (s->burst)
			read_burst(s, i);
		else
			read_single(s, i);
		rcu_quiescent(0);
	}
	rcu_unregister(0);
	atomic_store(&s->done, true);
	return NULL;
}

static void set_rule(struct classifier *c, const struct classifier_rule *rule, uint64_t check)
{
	void *old = NULL;

	assert_int_equal(classifier_set(c, rule, value_new(check), &old), 0);
	if (old != NULL)
		rcu_defer(value_free, old);
}

static void del_rule(struct classifier *c, const struct classifier_rule *rule)
{
	void *old = classifier_del(c, rule);

	if (old != NULL)
		rcu_defer(value_free, old);
}

// The rule of an always-key in its first or second form: other mask, other tuple.
static struct classifier_rule always_rule(unsigned n, unsigned form)
{
	const struct flow_key key = always_key(n);
	struct flow_key mask = {.dport = 0xffff, .proto = 0xff};

	if (form == 1)
		mask.in_port = 0xffff;
	return (struct classifier_rule){
		.key = reference_and(&key, &mask), .mask = mask, .priority = (int32_t)form};
}

static int free_value(const struct classifier_rule *rule, void *value, void *arg)
{
	(void)rule;
	(void)arg;
	free(value);
	return 0;
}

// Runs the reader against changes made by fn until it is through.
static void run(struct shared *s, void (*fn)(struct classifier *c, unsigned step))
{
	pthread_t thread;
	unsigned step = 0;

	s->c = classifier_new(64, 0xabc);
	assert_non_null(s->c);
	for (unsigned n = 0; n < ALWAYS; n++) {
		const struct classifier_rule rule = always_rule(n, 0);

		set_rule(s->c, &rule, n);
	}
	assert_int_equal(pthread_create(&thread, NULL, reader, s), 0);
	while (!atomic_load(&s->done)) {
		fn(s->c, step++);
		rcu_reap();
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	rcu_synchronize();
	rcu_reap();
	print_message("%llu lookups during %u changes\n", (unsigned long long)s->hits, step);
	assert_int_equal(s->missed, 0);
	assert_int_equal(s->wrong, 0);
	assert_true(s->hits >= LOOKUPS);
	assert_int_equal(classifier_foreach(s->c, free_value, NULL), 0);
	classifier_free(s->c);
}

// Rules around the ones that stay: same tables and chains, new masks, other priorities.
static void churn_around(struct classifier *c, unsigned step)
{
	static struct flow_key masks[12];
	struct classifier_rule rule;

	if (step == 0) {
		for (unsigned i = 0; i < ARRAY_LEN(masks); i++)
			masks[i] = reference_mask(&rng);
	}
	if (reference_draw(&rng, 2)) {
		rule = always_rule(ALWAYS + reference_draw(&rng, 2000), 0);
	} else {
		// Never matches an always-key: those have a protocol of their own.
		rule = reference_rule(&rng, &masks[reference_draw(&rng, ARRAY_LEN(masks))]);
		rule.mask.proto = 0xff;
		rule.key.proto = 6;
	}
	if (step / 3000 % 2 == 0 && reference_draw(&rng, 4))
		set_rule(c, &rule, 0);
	else
		del_rule(c, &rule);
}

static void test_present_rules_are_found(void **state)
{
	(void)state;
	for (int burst = 0; burst < 2; burst++) {
		struct shared s = {.burst = burst};

		run(&s, churn_around);
	}
}

// A new rule takes over before the old one goes: at every moment one of them matches.
static void hand_over(struct classifier *c, unsigned step)
{
	const unsigned n = step % ALWAYS, form = step / ALWAYS % 2;
	const struct classifier_rule next = always_rule(n, !form), last = always_rule(n, form);

	set_rule(c, &next, n);
	del_rule(c, &last);
}

static void test_make_before_break(void **state)
{
	(void)state;
	for (int burst = 0; burst < 2; burst++) {
		struct shared s = {.burst = burst};

		run(&s, hand_over);
	}
}

// A value is replaced at once; the old one may be read until the grace period ends.
static void replace_values(struct classifier *c, unsigned step)
{
	const struct classifier_rule rule = always_rule(step % ALWAYS, 0);

	set_rule(c, &rule, step % ALWAYS);
}

static void test_replaced_values(void **state)
{
	struct shared s = {.burst = true};

	(void)state;
	run(&s, replace_values);
}

static int start_rcu(void **state)
{
	(void)state;
	return test_eal_start() < 0 || rcu_init(1) != 0;
}

static int stop_rcu(void **state)
{
	(void)state;
	rcu_fini();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst_like_single),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_present_rules_are_found),
		cmocka_unit_test(test_make_before_break),
		cmocka_unit_test(test_replaced_values),
	};

	rng = reference_seed();
	return cmocka_run_group_tests(tests, start_rcu, stop_rcu);
}
