// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "features/node/node_api.h"

static int decode(const char *text, struct node **ret, struct err *err)
{
	const struct jlimits limits = {.bytes = 1 << 20, .depth = 16};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jval root;

	assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
	root = jdoc_root(doc);
	return node_api_decode(&root, ret, err);
}

static void test_decode(void **state)
{
	struct node *n = NULL;
	char text[IPPREFIX_TEXT_MAX];

	(void)state;
	assert_int_equal(decode("{\"name\":\"a\",\"self\":true,\"ips\":[\"192.0.2.1\",\"fd00::1\"],"
				"\"pod_cidrs\":[\"10.244.1.7/24\"],\"more\":7}",
				&n, NULL),
			 0);
	assert_true(n->self);
	assert_int_equal(n->ip_count, 2);
	assert_string_equal(ipprefix_format(&n->cidrs[0], text), "10.244.1.0/24");
	node_free(n);
	assert_int_equal(decode("{\"name\":\"b\",\"ips\":[],\"pod_cidrs\":[]}", &n, NULL), 0);
	assert_false(n->self);
	node_free(n);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"{}", "name"},
		{"{\"name\":\"\",\"ips\":[],\"pod_cidrs\":[]}", "name"},
		{"{\"name\":\"a\"}", "ips"},
		{"{\"name\":\"a\",\"ips\":[]}", "pod_cidrs"},
		{"{\"name\":\"a\",\"ips\":7,\"pod_cidrs\":[]}", "ips"},
		{"{\"name\":\"a\",\"ips\":[7],\"pod_cidrs\":[]}", "ips[0]"},
		{"{\"name\":\"a\",\"ips\":[\"x\"],\"pod_cidrs\":[]}", "`x` is no node's address"},
		{"{\"name\":\"a\",\"ips\":[\"127.0.0.1\"],\"pod_cidrs\":[]}", "no node's address"},
		{"{\"name\":\"a\",\"ips\":[\"0.0.0.0\"],\"pod_cidrs\":[]}", "no node's address"},
		{"{\"name\":\"a\",\"ips\":[\"ff02::1\"],\"pod_cidrs\":[]}", "no node's address"},
		{"{\"name\":\"a\",\"ips\":[],\"pod_cidrs\":[\"10.0.0.0/33\"]}", "no range"},
		{"{\"name\":\"a\",\"ips\":[],\"pod_cidrs\":[null]}", "pod_cidrs[0]"},
		{"{\"name\":\"a\",\"ips\":[],\"pod_cidrs\":[],\"self\":\"yes\"}", "self"},
		{"{\"name\":\"a\",\"ips\":[\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\","
		 "\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\","
		 "\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\",\"10.0.0.1\","
		 "\"10.0.0.1\"],\"pod_cidrs\":[]}",
		 "more than 16"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		struct node *n = NULL;

		if (decode(cases[i].text, &n, &err) >= 0 || !strstr(err.text, cases[i].error))
			fail_msg("case %zu: `%s`", i, err.text);
		assert_null(n);
	}
}

static char *row(const char *text)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	struct node *n = NULL;

	assert_int_equal(decode(text, &n, NULL), 0);
	node_api_row(j, n, 1450);
	node_free(n);
	return jput_take(j);
}

static void test_row(void **state)
{
	_free_ char *self = row("{\"name\":\"a\",\"self\":true,\"ips\":[\"192.0.2.1\",\"fd00::1\"],"
				"\"pod_cidrs\":[\"10.244.1.0/24\"]}");
	_free_ char *bare = row("{\"name\":\"b\",\"ips\":[],\"pod_cidrs\":[]}");

	(void)state;
	assert_string_equal(self, "{\"name\":\"a\",\"node_ip\":\"192.0.2.1\",\"node_ips\":"
				  "[\"192.0.2.1\",\"fd00::1\"],\"pod_cidrs\":[\"10.244.1.0/24\"],"
				  "\"route\":\"local\",\"mtu\":1450}");
	assert_string_equal(bare, "{\"name\":\"b\",\"node_ip\":null,\"node_ips\":[],"
				  "\"pod_cidrs\":[],\"route\":\"none\",\"mtu\":1450}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
