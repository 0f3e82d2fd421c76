// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet/drop.h"

static int is_name(const char *name)
{
	return name[0] != '\0' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static void test_every_reason_is_described(void **state)
{
	(void)state;
	assert_string_equal(drop_table[DROP_NONE].name, "none");
	for (int i = 0; i < DROP_COUNT; i++) {
		assert_non_null(drop_table[i].name);
		assert_true(is_name(drop_table[i].name));
		assert_true(strlen(drop_table[i].help) >= 10);
		assert_null(strchr(drop_table[i].help, '|'));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(drop_table[i].name, drop_table[j].name);
	}
}

static void test_directions(void **state)
{
	(void)state;
	for (int i = 1; i < DROP_COUNT; i++)
		assert_int_equal(drop_table[i].is_tx, strncmp(drop_table[i].name, "tx-", 3) == 0);
}

// docs/drops.md is made from the table; a stale page is an error.
static void test_page_is_current(void **state)
{
	static char page[64 * 1024];
	FILE *file = fopen("docs/drops.md", "r");
	char row[512];
	size_t len;

	(void)state;
	assert_non_null(file);
	len = fread(page, 1, sizeof(page) - 1, file);
	assert_int_equal(fclose(file), 0);
	page[len] = '\0';
	for (int i = 1; i < DROP_COUNT; i++) {
		snprintf(row, sizeof(row), "| `%s` | %s |\n", drop_table[i].name,
			 drop_table[i].help);
		if (strstr(page, row) == NULL)
			fail_msg("docs/drops.md is stale: run tests/lint/drops.py; no row %s", row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason_is_described),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_page_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
