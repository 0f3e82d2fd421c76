// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/decode/collect.h"

static void test_namespace(void **state)
{
	_cleanup_(collected_fini) struct collected c =
		collect("{'kind':'Namespace','metadata':{'name':'x','labels':{'team':'a'}},"
			"'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}");

	(void)state;
	assert_int_equal(c.count, 1);
	assert_int_equal(c.objects[0]->kind, OBJECT_NAMESPACE);
	assert_int_equal(c.objects[0]->meta.label_count, 1);
	assert_int_equal(c.notes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
