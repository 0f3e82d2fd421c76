// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/decode/collect.h"

#include <errno.h>

#define POD(name) "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name "'}}"

// What a document yields in objects, failures and objects of other kinds.
static const struct {
	const char *text;
	size_t objects, failed, ignored;
} cases[] = {
	{POD("a"), 1, 0, 0},
	{"null", 0, 0, 0},
	{"{'kind':'Pod','metadata':{'name':'a'}}", 1, 0, 0},
	{"{'apiVersion':'v1','kind':'List','items':[" POD("a") "," POD("b") "]}", 2, 0, 0},
	{"{'kind':'PodList','items':[{'metadata':{'name':'a'}}]}", 1, 0, 0},
	{"{'kind':'NodeList','items':[{'metadata':{'name':'a'}},{'metadata':{}}]}", 1, 1, 0},
	{"{'kind':'List','items':[{'kind':'List','items':[" POD("a") "]}]}", 1, 0, 0},
	{"{'kind':'List','items':[" POD("a") ",7,null,{'kind':'Service'}]}", 1, 2, 1},
	{"{'kind':'List','items':null}", 0, 0, 0},
	{"{'kind':'List','items':{}}", 0, 1, 0},
	{"{'kind':'List','items':[]}", 0, 0, 0},
	{"{'kind':'Service','metadata':{'name':'a'}}", 0, 0, 1},
	{"{'kind':'EndpointSlice'}", 0, 0, 1},
	{"{'kind':'NetworkPolicyList','items':[{'metadata':{'name':'a'}}]}", 0, 0, 1},
	// A kind of the same name in another group is something else.
	{"{'apiVersion':'example.com/v1','kind':'Node','metadata':{'name':'a'}}", 0, 0, 1},
	{"{'apiVersion':'v2','kind':'Pod','metadata':{'name':'a'}}", 0, 0, 1},
	{"{'kind':'AccessList','spec':{}}", 0, 0, 1},
	{"{'metadata':{'name':'a'}}", 0, 1, 0},
	{"{'kind':3}", 0, 1, 0},
	{"{'kind':'Pod','apiVersion':1,'metadata':{'name':'a'}}", 0, 1, 0},
	{"[" POD("a") "]", 0, 1, 0},
	{"'text'", 0, 1, 0},
	{"{}", 0, 1, 0},
};

static void test_documents(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(collected_fini) struct collected c = collect(cases[i].text);

		if (c.count != cases[i].objects || c.failed != cases[i].failed ||
		    c.ignored != cases[i].ignored)
			fail_msg("%s: %zu %zu %zu", cases[i].text, c.count, c.failed, c.ignored);
	}
}

// An error names the object as far as it is known, and the place in it.
static void test_error_text(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"{'kind':'Pod','metadata':{'name':'a','namespace':'x'},'spec':{'nodeName':1}}",
		 "Pod x/a: $.spec.nodeName: expected a string, got 1"},
		{"{'kind':'Node','metadata':{'name':'n'},'spec':{'podCIDRs':'x'}}",
		 "Node n: $.spec.podCIDRs: expected an array, got \"x\""},
		{"{'kind':'Node','metadata':{}}", "Node: $.metadata.name: missing"},
		{"{'kind':'Node'}", "Node: $.metadata: missing"},
		{"{'kind':'PodList','items':[{'metadata':{'name':'-'}}]}",
		 "Pod -: $.items[0].metadata.name: `-` is no valid name"},
		{"{}", "$.kind: missing"},
		{"7", "$: expected a Kubernetes object"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(collected_fini) struct collected c = collect(rows[i].text);

		assert_string_equal(c.error, rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
