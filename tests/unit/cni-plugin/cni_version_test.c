// SPDX-License-Identifier: Apache-2.0
#include "cni_version.h"

#include <string.h>

#include "base/compiler.h"
#include "cm.h"

static void parses_what_it_lists(void **state)
{
	(void)state;
	for (int v = 0; v < CNI_VERSION_COUNT; v++) {
		const char *name = cni_version_name((enum cni_version)v);

		assert_int_equal(cni_version_parse(name), v);
		assert_non_null(strstr(cni_version_list(), name));
	}
}

static void knows_no_other(void **state)
{
	static const char *const others[] = {"",      "1.0", "1.0.0 ", "v1.0.0",
					     "9.9.9", "0.4", "1.2.0"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(cni_version_parse(others[i]), CNI_VERSION_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_what_it_lists),
		cmocka_unit_test(knows_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
