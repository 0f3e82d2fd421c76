// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include "base/compiler.h"
#include "base/hash.h"

// Published results of XXH3: a change of the library or the flags must not move names on disk.
static void test_known_values(void **state)
{
	char out[33];

	(void)state;
	assert_true(hash_bytes("", 0, 0) == 0x2d06800538d394c2ull);
	hash_strings_hex(NULL, 0, out);
	assert_string_equal(out, "99aa06d3014798d86001c324468d497f");
}

static void test_strings_are_separated(void **state)
{
	static const char *const ab_c[] = {"ab", "c"}, *const a_bc[] = {"a", "bc"};
	static const char *const abc[] = {"abc"}, *const abc_e[] = {"abc", ""};
	char out[4][33];

	(void)state;
	hash_strings_hex(ab_c, 2, out[0]);
	hash_strings_hex(a_bc, 2, out[1]);
	hash_strings_hex(abc, 1, out[2]);
	hash_strings_hex(abc_e, 2, out[3]);
	for (size_t i = 0; i < ARRAY_LEN(out); i++) {
		for (size_t j = i + 1; j < ARRAY_LEN(out); j++)
			assert_string_not_equal(out[i], out[j]);
		assert_int_equal(out[i][32], '\0');
	}
	hash_strings_hex(ab_c, 2, out[1]);
	assert_string_equal(out[0], out[1]);
}

static void test_seed_and_size(void **state)
{
	(void)state;
	static const char data[300] = {0};

	assert_true(hash_bytes(data, 8, 1) != hash_bytes(data, 8, 2));
	for (size_t n = 1; n < sizeof(data); n++)
		assert_true(hash_bytes(data, n, 0) != hash_bytes(data, n - 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_strings_are_separated),
		cmocka_unit_test(test_seed_and_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
