// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "features/attach/ipam_range.h"

static void test_sizes(void **state)
{
	static const struct {
		const char *range;
		uint64_t end, total;
	} cases[] = {
		{"10.0.0.0/8", 0xffffff, 0xffffff - 2},
		{"10.0.0.0/24", 255, 253},
		{"10.0.0.0/30", 3, 1},
		{"10.0.0.0/31", 1, 0},
		{"10.0.0.0/32", 0, 0},
		{"0.0.0.0/0", 0xffffffff, 0xffffffff - 2},
		{"fd00::/48", UINT64_MAX, UINT64_MAX - 2},
		{"fd00::/64", UINT64_MAX, UINT64_MAX - 2},
		{"fd00::/65", 1ull << 63, (1ull << 63) - 2},
		{"fd00::/125", 8, 6},
		{"fd00::/127", 2, 0},
		{"fd00::/128", 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ipprefix p;

		assert_int_equal(ipprefix_parse(cases[i].range, &p), 0);
		if (ipam_range_end(&p) != cases[i].end || ipam_range_total(&p) != cases[i].total)
			fail_msg("%s", cases[i].range);
	}
}

static void test_roles(void **state)
{
	static const struct {
		const char *range, *addr, *role;
		uint64_t offset;
	} cases[] = {
		{"10.1.0.0/24", "10.1.0.0", "network address", 0},
		{"10.1.0.0/24", "10.1.0.1", "gateway", 1},
		{"10.1.0.0/24", "10.1.0.2", NULL, 2},
		{"10.1.0.0/24", "10.1.0.255", "broadcast address", 255},
		{"10.1.0.0/31", "10.1.0.1", "broadcast address", 1},
		{"fd00::/64", "fd00::", "network address", 0},
		{"fd00::/64", "fd00::1", "gateway", 1},
		{"fd00::/64", "fd00::ffff:ffff:ffff:ffff", NULL, UINT64_MAX},
		{"fd00::/127", "fd00::1", NULL, 1},
		{"fd00::/48", "fd00:0:0:1::", NULL, UINT64_MAX},
		{"fd00::/48", "fd00:0:0:1::1", NULL, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *role;
		struct ipprefix p;
		struct ipaddr a;

		assert_int_equal(ipprefix_parse(cases[i].range, &p), 0);
		assert_int_equal(ipaddr_parse(cases[i].addr, &a), 0);
		role = ipam_range_role(&p, &a);
		if (ipam_range_offset(&p, &a) != cases[i].offset || !role != !cases[i].role ||
		    (role && strcmp(role, cases[i].role) != 0))
			fail_msg("case %zu: %s", i, role ? role : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
