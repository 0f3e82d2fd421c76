// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "features/attach/ipam.h"

#define S NS_PER_SEC

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;

	assert_int_equal(ipaddr_parse(text, &a), 0);
	return a;
}

static struct ipprefix prefix(const char *text)
{
	struct ipprefix p;

	assert_int_equal(ipprefix_parse(text, &p), 0);
	return p;
}

static struct ipam *make(const char *const *ranges, size_t count)
{
	struct ipprefix list[IPAM_RANGES_MAX];
	struct ipam *ipam = ipam_new();

	assert_non_null(ipam);
	for (size_t i = 0; i < count; i++)
		list[i] = prefix(ranges[i]);
	assert_int_equal(ipam_set_ranges(ipam, list, count, NULL), 0);
	return ipam;
}

static void expect_take(struct ipam *ipam, bool v4, uint64_t now, const char *want)
{
	char text[IPADDR_TEXT_MAX];
	struct err err = ERR_INIT;
	struct ipaddr a;

	if (ipam_take(ipam, v4, "holder", now, &a, &err) < 0)
		fail_msg("wanted %s: %s", want, err.text);
	assert_string_equal(ipaddr_format(&a, text), want);
}

// The table of sizes: network, gateway and broadcast are never given.
static void test_sizes(void **state)
{
	static const struct {
		const char *range, *first, *last, *full;
		uint64_t total;
	} cases[] = {
		{"10.244.1.0/29", "10.244.1.2", "10.244.1.6", "10.244.1.0/29: 5 of 5 used", 5},
		{"10.244.1.8/29", "10.244.1.10", "10.244.1.14", "10.244.1.8/29: 5 of 5 used", 5},
		{"10.244.1.0/30", "10.244.1.2", "10.244.1.2", "10.244.1.0/30: 1 of 1 used", 1},
		{"10.244.1.0/31", NULL, NULL, "10.244.1.0/31: 0 of 0 used", 0},
		{"10.244.1.7/32", NULL, NULL, "10.244.1.7/32: 0 of 0 used", 0},
		{"fd00::/125", "fd00::2", "fd00::7", "fd00::/125: 6 of 6 used", 6},
		{"fd00::/126", "fd00::2", "fd00::3", "fd00::/126: 2 of 2 used", 2},
		{"fd00::/127", NULL, NULL, "fd00::/127: 0 of 0 used", 0},
		{"fd00::1/128", NULL, NULL, "fd00::1/128: 0 of 0 used", 0},
		{"10.0.0.0/24", "10.0.0.2", "10.0.0.254", "10.0.0.0/24: 253 of 253 used", 253},
		{"255.255.255.0/24", "255.255.255.2", "255.255.255.254",
		 "255.255.255.0/24: 253 of 253 used", 253},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ipam *ipam = make(&cases[i].range, 1);
		bool v4 = !strchr(cases[i].range, ':');
		char text[IPADDR_TEXT_MAX] = "";
		struct err err = ERR_INIT;
		struct ipaddr a;
		uint64_t n;

		for (n = 0; ipam_take(ipam, v4, "h", n, &a, &err) == 0; n++) {
			ipaddr_format(&a, text);
			if (n == 0)
				assert_string_equal(text, cases[i].first);
		}
		assert_int_equal(n, cases[i].total);
		if (cases[i].last)
			assert_string_equal(text, cases[i].last);
		assert_int_equal(err.code, 100);
		assert_non_null(strstr(err.text, "no free address in "));
		assert_non_null(strstr(err.text, cases[i].full));
		ipam_free(ipam);
	}
}

static void test_full_then_one_back(void **state)
{
	static const char *const ranges[] = {"10.244.1.0/29"};
	struct ipam *ipam = make(ranges, 1);
	struct ipaddr a = addr("10.244.1.4"), got;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(ipam_take(ipam, true, "h", 0, &got, NULL), 0);
	assert_int_equal(ipam_take(ipam, true, "h", 0, &got, NULL), -ENOSPC);
	ipam_give(ipam, &a, 1);
	// Not rested, but the only one there is.
	expect_take(ipam, true, 2, "10.244.1.4");
	assert_int_equal(ipam_take(ipam, true, "h", 3, &got, NULL), -ENOSPC);
	ipam_free(ipam);
}

// One pod coming and going does not get the same address while others are free (row 11).
static void test_least_recently_freed(void **state)
{
	static const char *const ranges[] = {"10.244.1.0/26"};
	struct ipam *ipam = make(ranges, 1);
	bool seen[64] = {false};

	(void)state;
	for (int i = 0; i < 30; i++) {
		struct ipaddr a;

		assert_int_equal(ipam_take(ipam, true, "h", (uint64_t)i, &a, NULL), 0);
		assert_false(seen[a.b[15]]);
		seen[a.b[15]] = true;
		ipam_give(ipam, &a, (uint64_t)i);
	}
	for (int i = 30; i < 61; i++) {
		struct ipaddr a;

		assert_int_equal(ipam_take(ipam, true, "h", (uint64_t)i, &a, NULL), 0);
		ipam_give(ipam, &a, (uint64_t)i);
	}
	// All were used once: the one freed longest ago comes next.
	expect_take(ipam, true, 100, "10.244.1.2");
	expect_take(ipam, true, 100, "10.244.1.3");
	ipam_free(ipam);
}

// A range without an end still reuses addresses, so that memory is bounded.
static void test_huge_range_reuses(void **state)
{
	static const char *const ranges[] = {"fd00:10:1::/64"};
	struct ipam *ipam = make(ranges, 1);
	struct ipaddr a, last;

	(void)state;
	for (int i = 0; i < IPAM_RESTING; i++) {
		assert_int_equal(ipam_take(ipam, false, "h", 0, &a, NULL), 0);
		ipam_give(ipam, &a, S);
	}
	assert_int_equal(ipam_take(ipam, false, "h", S + IPAM_REST_NS - 1, &last, NULL), 0);
	assert_int_equal(last.b[14] << 8 | last.b[15], IPAM_RESTING + 2);
	expect_take(ipam, false, S + IPAM_REST_NS, "fd00:10:1::2");
	ipam_free(ipam);
}

static void test_asked_for(void **state)
{
	static const char *const ranges[] = {"10.244.1.0/24", "fd00:10:1::/64"};
	static const struct {
		const char *addr;
		bool outside;
		int want;
		const char *text;
	} cases[] = {
		{"10.244.1.7", false, 0, NULL},
		{"10.244.1.7", false, -EEXIST, "10.244.1.7 is taken by pod a/b"},
		{"10.244.1.7", true, -EEXIST, "taken by pod a/b"},
		{"10.244.1.0", false, -EINVAL, "network address of 10.244.1.0/24"},
		{"10.244.1.1", false, -EINVAL, "gateway of 10.244.1.0/24"},
		{"10.244.1.255", false, -EINVAL, "broadcast address"},
		{"10.244.2.7", false, -ERANGE, "10.244.2.7 is outside the node's pod ranges"},
		{"10.244.2.7", true, 0, NULL},
		{"10.244.2.7", true, -EEXIST, "taken by"},
		{"fd00:10:1::", false, -EINVAL, "network address"},
		{"fd00:10:1::1", false, -EINVAL, "gateway"},
		{"fd00:10:1:0:ffff:ffff:ffff:ffff", false, 0, NULL},
		{"fd00:10:2::9", false, -ERANGE, "outside"},
		{"127.0.0.1", true, -EINVAL, "no address for a pod"},
		{"0.0.0.0", true, -EINVAL, "no address for a pod"},
		{"224.0.0.1", true, -EINVAL, "no address for a pod"},
		{"255.255.255.255", true, -EINVAL, "no address for a pod"},
		{"169.254.1.1", true, -EINVAL, "no address for a pod"},
		{"fe80::1", true, -EINVAL, "no address for a pod"},
		{"ff02::1", true, -EINVAL, "no address for a pod"},
		{"::", true, -EINVAL, "no address for a pod"},
	};
	struct ipam *ipam = make(ranges, 2);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ipaddr a = addr(cases[i].addr);
		struct err err = ERR_INIT;
		int r = ipam_take_addr(ipam, &a, cases[i].outside, "pod a/b", &err);

		if (r != cases[i].want || (r < 0 && !strstr(err.text, cases[i].text)))
			fail_msg("case %zu %s: %d `%s`", i, cases[i].addr, r, err.text);
		if (r < 0)
			assert_int_equal(err.code, 100);
	}
	ipam_free(ipam);
}

static void test_cursor_skips_asked_for(void **state)
{
	static const char *const ranges[] = {"10.244.1.0/29"};
	struct ipam *ipam = make(ranges, 1);
	struct ipaddr second = addr("10.244.1.3"), third = addr("10.244.1.4");

	(void)state;
	assert_int_equal(ipam_take_addr(ipam, &second, false, "h", NULL), 0);
	assert_int_equal(ipam_take_addr(ipam, &third, false, "h", NULL), 0);
	ipam_give(ipam, &third, 0);
	expect_take(ipam, true, 0, "10.244.1.2");
	expect_take(ipam, true, 0, "10.244.1.5");
	expect_take(ipam, true, 0, "10.244.1.6");
	expect_take(ipam, true, 0, "10.244.1.4");
	ipam_free(ipam);
}

static void test_range_change(void **state)
{
	static const char *const ranges[] = {"10.244.1.0/29"};
	struct ipprefix next[] = {prefix("10.244.2.0/29"), prefix("10.244.1.0/29")};
	struct ipam *ipam = make(ranges, 1);
	struct ipaddr a = addr("10.244.1.2");
	struct ipam_usage u;

	(void)state;
	expect_take(ipam, true, 0, "10.244.1.2");
	expect_take(ipam, true, 0, "10.244.1.3");
	ipam_give(ipam, &a, 0);
	assert_int_equal(ipam_set_ranges(ipam, next, 2, NULL), 0);
	ipam_usage(ipam, 1, &u);
	assert_int_equal(u.next, 4); // moved to another place with all it knew
	assert_int_equal(u.used, 1);
	expect_take(ipam, true, 0, "10.244.2.2");
	assert_int_equal(ipam_set_ranges(ipam, next, 1, NULL), 0);
	// Still held, though no range has it any more.
	a = addr("10.244.1.3");
	assert_string_equal(ipam_holder(ipam, &a), "holder");
	ipam_give(ipam, &a, 0);
	assert_null(ipam_holder(ipam, &a));
	expect_take(ipam, true, 0, "10.244.2.3");
	ipam_free(ipam);
}

static void test_range_limits(void **state)
{
	struct ipprefix list[IPAM_RANGES_MAX + 1];
	struct ipam *ipam = ipam_new();
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		list[i] = prefix("10.0.0.0/8");
	assert_int_equal(ipam_set_ranges(ipam, list, ARRAY_LEN(list), &err), -EINVAL);
	assert_int_equal(ipam_range_count(ipam), 0);
	// The same range many times is one range's worth of addresses.
	assert_int_equal(ipam_set_ranges(ipam, list, IPAM_RANGES_MAX, NULL), 0);
	expect_take(ipam, true, 0, "10.0.0.2");
	expect_take(ipam, true, 0, "10.0.0.3");
	assert_false(ipam_has_family(ipam, false));
	ipam_free(ipam);
}

// ---- a model: arrays and plain loops, under random steps ----

#define MODEL_SIZE 64 // offsets of a /26
enum model_state { FRESH, USED, FREED };

struct model {
	enum model_state state[MODEL_SIZE];
	uint64_t freed_at[MODEL_SIZE];
};

static int model_next(const struct model *m)
{
	int oldest = -1;

	for (int i = 2; i < MODEL_SIZE - 1; i++) {
		if (m->state[i] == FRESH)
			return i;
		if (m->state[i] == FREED && (oldest < 0 || m->freed_at[i] < m->freed_at[oldest]))
			oldest = i;
	}
	return oldest;
}

static void model_step(struct ipam *ipam, struct model *m, uint64_t now)
{
	struct ipaddr base = addr("10.9.8.64"), a;
	int i = 2 + rand_r(&(unsigned){(unsigned)now * 2654435761u}) % (MODEL_SIZE - 3);
	int want = model_next(m), r;

	a = ipaddr_add(&base, (uint64_t)i);
	switch (now % 3) {
	case 0:
		r = ipam_take(ipam, true, "h", now, &a, NULL);
		assert_int_equal(r, want < 0 ? -ENOSPC : 0);
		if (r == 0) {
			assert_int_equal(a.b[15] - 64, want);
			m->state[want] = USED;
		}
		break;
	case 1:
		r = ipam_take_addr(ipam, &a, false, "h", NULL);
		assert_int_equal(r, m->state[i] == USED ? -EEXIST : 0);
		m->state[i] = USED;
		break;
	default:
		ipam_give(ipam, &a, now);
		if (m->state[i] == USED) {
			m->state[i] = FREED;
			m->freed_at[i] = now;
		}
	}
}

static void test_model(void **state)
{
	static const char *const ranges[] = {"10.9.8.64/26"};
	struct ipam *ipam = make(ranges, 1);
	struct model m = {{FRESH}, {0}};

	(void)state;
	for (uint64_t now = 1; now < 20000; now++)
		model_step(ipam, &m, now);
	ipam_free(ipam);
}

static int collect(const struct ipaddr *a, void *arg)
{
	char text[IPADDR_TEXT_MAX];

	strncat(arg, ipaddr_format(a, text), 40);
	strncat(arg, " ", 2);
	return 0;
}

static void test_restore(void **state)
{
	static const char *const ranges[] = {"10.244.1.0/28"};
	static const char *const freed[] = {"10.244.1.9", "10.244.1.3", "10.244.1.9",
					    "10.244.1.1", "10.9.9.9",   "10.244.1.15"};
	struct ipprefix p = prefix("10.244.1.0/28"), other = prefix("10.244.9.0/28");
	struct ipam *ipam = make(ranges, 1);
	char text[256] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(freed); i++) {
		struct ipaddr a = addr(freed[i]);

		assert_int_equal(ipam_restore_freed(ipam, &a, i), 0);
	}
	// Reserved and foreign ones are left out, a repeated one counts where it stood last.
	(void)ipam_foreach_freed(ipam, collect, text);
	assert_string_equal(text, "10.244.1.3 10.244.1.9 ");
	ipam_restore_next(ipam, &other, 5);
	ipam_restore_next(ipam, &p, 14);
	ipam_restore_next(ipam, &p, 3); // never back
	expect_take(ipam, true, 9, "10.244.1.14");
	expect_take(ipam, true, 9, "10.244.1.3");
	ipam_restore_next(ipam, &p, UINT64_MAX);
	expect_take(ipam, true, 9, "10.244.1.9");
	ipam_free(ipam);
	ipam_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_full_then_one_back),
		cmocka_unit_test(test_least_recently_freed),
		cmocka_unit_test(test_huge_range_reuses),
		cmocka_unit_test(test_asked_for),
		cmocka_unit_test(test_cursor_skips_asked_for),
		cmocka_unit_test(test_range_change),
		cmocka_unit_test(test_range_limits),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_restore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
