// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/objects.h"

#include <errno.h>

// Every row differs from every other one.
static const char *const different[] = {
	"{'kind':'Node','metadata':{'name':'a'}}",
	"{'kind':'Node','metadata':{'name':'b'}}",
	"{'kind':'Node','metadata':{'name':'a','uid':'u'}}",
	"{'kind':'Node','metadata':{'name':'a','labels':{'k':'v'}}}",
	"{'kind':'Node','metadata':{'name':'a','labels':{'k':'w'}}}",
	"{'kind':'Node','metadata':{'name':'a','labels':{'l':'v'}}}",
	"{'kind':'Node','metadata':{'name':'a'},'spec':{'podCIDR':'10.0.0.0/24'}}",
	"{'kind':'Node','metadata':{'name':'a'},'spec':{'podCIDR':'10.0.0.0/25'}}",
	"{'kind':'Node','metadata':{'name':'a'},'spec':{'podCIDR':'10.0.1.0/24'}}",
	"{'kind':'Node','metadata':{'name':'a'},"
	"'status':{'addresses':[{'type':'InternalIP','address':'1.2.3.4'}]}}",
	"{'kind':'Namespace','metadata':{'name':'a'}}",
	"{'kind':'Pod','metadata':{'name':'a'}}",
	"{'kind':'Pod','metadata':{'name':'a','namespace':'x'}}",
	"{'kind':'Pod','metadata':{'name':'a'},'spec':{'nodeName':'n'}}",
	"{'kind':'Pod','metadata':{'name':'a'},'spec':{'hostNetwork':true}}",
	"{'kind':'Pod','metadata':{'name':'a'},'status':{'phase':'Failed'}}",
	"{'kind':'Pod','metadata':{'name':'a'},'status':{'podIP':'10.0.0.1'}}",
	"{'kind':'Pod','metadata':{'name':'a'},'status':{'podIP':'10.0.0.2'}}",
};

static struct object *from(const char *quoted)
{
	_free_ char *text = strdup(quoted);

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	return object_from(text);
}

static void test_equal(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(different); i++) {
		_cleanup_(object_unrefp) struct object *a = from(different[i]);

		for (size_t k = 0; k < ARRAY_LEN(different); k++) {
			_cleanup_(object_unrefp) struct object *b = from(different[k]);

			if (object_is_equal(a, b) != (i == k))
				fail_msg("%s %s", different[i], different[k]);
		}
	}
}

static void test_key(void **state)
{
	_cleanup_(object_unrefp) struct object *pod = from(different[12]);
	_cleanup_(object_unrefp) struct object *node = from(different[0]);
	char key[OBJECT_KEY_MAX];

	(void)state;
	assert_string_equal(object_key(pod, key), "pod/x/a");
	assert_string_equal(object_key(node, key), "node/a");
}

static void test_phase(void **state)
{
	enum pod_phase phase = POD_PENDING;

	(void)state;
	for (int i = POD_PENDING; i <= POD_UNKNOWN; i++) {
		assert_int_equal(pod_phase_parse(pod_phase_name((enum pod_phase)i), &phase), 0);
		assert_int_equal(phase, i);
	}
	assert_int_equal(pod_phase_parse("running", &phase), -EINVAL);
}

static void test_ips(void **state)
{
	struct object_ips ips = {0};
	struct ipaddr first, addr;

	(void)state;
	assert_int_equal(ipaddr_parse("10.0.0.1", &first), 0);
	for (unsigned i = 0; i < OBJECT_IPS_MAX; i++) {
		addr = ipaddr_add(&first, i);
		assert_true(object_ips_add(&ips, &addr));
		assert_false(object_ips_add(&ips, &addr));
	}
	addr = ipaddr_add(&first, OBJECT_IPS_MAX);
	assert_false(object_ips_add(&ips, &addr));
	assert_int_equal(ips.count, OBJECT_IPS_MAX);
}

static void test_refs(void **state)
{
	struct object *obj = object_new(OBJECT_POD);

	(void)state;
	assert_ptr_equal(object_ref(obj), obj);
	object_unref(obj);
	assert_int_equal(obj->refs, 1);
	object_unref(obj); // half-filled
	object_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal), cmocka_unit_test(test_key),
		cmocka_unit_test(test_phase), cmocka_unit_test(test_ips),
		cmocka_unit_test(test_refs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
