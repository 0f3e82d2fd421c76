// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/objects.h"

#include "compile/compile.h"

static const struct {
	const char *object, *set, *del; // with ' for "
} cases[] = {
	{"{'kind':'Node','metadata':{'name':'n1'},'spec':{'podCIDRs':['10.1.0.0/24','fd00::/64']},"
	 "'status':{'addresses':[{'type':'InternalIP','address':'192.0.2.1'}]}}",
	 "{'op':'set','kind':'node','name':'n1','self':true,'ips':['192.0.2.1'],"
	 "'pod_cidrs':['10.1.0.0/24','fd00::/64']}",
	 "{'op':'del','kind':'node','name':'n1'}"},
	{"{'kind':'Node','metadata':{'name':'n2'}}",
	 "{'op':'set','kind':'node','name':'n2','self':false,'ips':[],'pod_cidrs':[]}",
	 "{'op':'del','kind':'node','name':'n2'}"},
	{"{'kind':'Pod','metadata':{'name':'a'}}",
	 "{'op':'set','kind':'pod','namespace':'default','name':'a','uid':'',"
	 "'host_network':false,'phase':'Pending','ips':[],'labels':{},'node':''}",
	 "{'op':'del','kind':'pod','namespace':'default','name':'a'}"},
	{"{'kind':'Pod','metadata':{'name':'a','namespace':'x','uid':'u','labels':{'b':'2','a':'1'}"
	 "},"
	 "'spec':{'nodeName':'n1','hostNetwork':true},"
	 "'status':{'phase':'Running','podIP':'10.0.0.1'}}",
	 "{'op':'set','kind':'pod','namespace':'x','name':'a','uid':'u','host_network':true,"
	 "'phase':'Running','ips':['10.0.0.1'],'labels':{'a':'1','b':'2'},'node':'n1'}",
	 "{'op':'del','kind':'pod','namespace':'x','name':'a'}"},
	{"{'kind':'Namespace','metadata':{'name':'x'}}", NULL, NULL},
};

static char *unquote(const char *quoted)
{
	char *text = strdup(quoted);

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	return text;
}

static void check(int r, char *text, const char *quoted)
{
	_free_ char *got = text, *want = quoted ? unquote(quoted) : NULL;

	assert_int_equal(r, want ? COMPILE_DONE : COMPILE_NOTHING);
	if (want)
		assert_string_equal(got, want);
}

static void test_compile(void **state)
{
	const struct compile_env env = {.self = "n1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_free_ char *json = unquote(cases[i].object);
		_cleanup_(object_unrefp) struct object *obj = object_from(json);
		char *set = NULL, *del = NULL;
		int r = compile_set(obj, &env, &set);

		check(r, set, cases[i].set);
		r = compile_del(obj, &del);
		check(r, del, cases[i].del);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
