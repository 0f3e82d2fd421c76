// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "features/pod/pod_api.h"

static int decode(const char *text, struct pod **ret, struct err *err)
{
	const struct jlimits limits = {.bytes = 1 << 20, .depth = 16};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jval root;

	assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
	root = jdoc_root(doc);
	return pod_api_decode(&root, ret, err);
}

static void test_decode(void **state)
{
	struct pod *p = NULL;

	(void)state;
	assert_int_equal(decode("{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\",\"phase\":"
				"\"Running\",\"node\":\"n\",\"host_network\":true,"
				"\"ips\":[\"10.0.0.1\",\"fd00::1\"],\"labels\":{\"a\":\"b\"}}",
				&p, NULL),
			 0);
	assert_string_equal(p->phase, "Running");
	assert_true(p->host_network);
	assert_int_equal(p->ip_count, 2);
	pod_free(p);
	assert_int_equal(decode("{\"namespace\":\"ns\",\"name\":\"p\",\"ips\":null}", &p, NULL), 0);
	assert_string_equal(p->uid, "");
	assert_int_equal(p->ip_count, 0);
	pod_free(p);
}

static void test_refused(void **state)
{
	static const struct {
		const char *rest, *error;
	} cases[] = {
		{"", "name"},
		{",\"name\":\"\"", "name"},
		{",\"name\":7", "name"},
		{",\"name\":\"p\",\"ips\":[\"x\"]", "`x` is no address"},
		{",\"name\":\"p\",\"ips\":[{}]", "ips[0]"},
		{",\"name\":\"p\",\"ips\":[\"::1\",\"::1\",\"::1\",\"::1\",\"::1\",\"::1\",\"::1\","
		 "\"::1\",\"::1\"]",
		 "more than 8"},
		{",\"name\":\"p\",\"labels\":[]", "labels"},
		{",\"name\":\"p\",\"labels\":{\"a\":7}", "labels"},
		{",\"name\":\"p\",\"host_network\":\"no\"", "host_network"},
		{",\"name\":\"p\",\"uid\":[]", "uid"},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		struct pod *p = NULL;

		snprintf(text, sizeof(text), "{\"namespace\":\"ns\"%s}", cases[i].rest);
		if (decode(text, &p, &err) >= 0 || !strstr(err.text, cases[i].error))
			fail_msg("case %zu: `%s`", i, err.text);
		assert_null(p);
	}
}

static void test_long_name(void **state)
{
	struct err err = ERR_INIT;
	struct pod *p = NULL;
	char text[1200], name[1001];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "{\"namespace\":\"ns\",\"name\":\"%s\"}", name);
	assert_true(decode(text, &p, &err) < 0);
	assert_non_null(strstr(err.text, "253"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
