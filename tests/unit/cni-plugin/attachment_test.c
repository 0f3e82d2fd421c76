// SPDX-License-Identifier: Apache-2.0
#include "attachment.h"

#include <string.h>

#include "cm.h"

// Ids with the same head, and fields that only differ in where they are cut.
static void hashes_differ(void **state)
{
	static const struct attachment all[] = {
		{"n", "aaaaaaaaaaaa01", "eth0"}, {"n", "aaaaaaaaaaaa02", "eth0"},
		{"n", "aaaaaaaaaaaa01", "net1"}, {"na", "aaaaaaaaaaa01", "eth0"},
		{"m", "aaaaaaaaaaaa01", "eth0"},
	};
	char hashes[5][ATTACHMENT_HASH_MAX];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(strlen(attachment_hash(&all[i], hashes[i])), 32);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(hashes[i], hashes[k]);
	}
}

// Names of links and files of an older release must still be found.
static void hash_is_stable(void **state)
{
	static const struct attachment a = {"weft", "c1", "eth0"};
	char hash[ATTACHMENT_HASH_MAX];

	(void)state;
	assert_string_equal(attachment_hash(&a, hash), "339ef13f9fb0bec9e5b71c94edee9a22");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_differ),
		cmocka_unit_test(hash_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
