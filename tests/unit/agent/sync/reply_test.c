// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "sync/reply.h"

static const struct {
	const char *line;
	int r;
	bool is_ok;
	long code;
	const char *text;
} cases[] = {
	{"{\"ok\":true}", 0, true, 0, ""},
	{"{\"ok\":false}", 0, false, 0, ""},
	{"{\"ok\":false,\"error\":{\"code\":11,\"msg\":\"busy\"}}", 0, false, 11, "busy"},
	{"{\"ok\":false,\"error\":{\"code\":7,\"msg\":\"bad\",\"details\":\"$.ops[3]\"}}", 0, false,
	 7, "bad: $.ops[3]"},
	{"{\"ok\":false,\"error\":{\"code\":-1,\"msg\":3}}", 0, false, 0, "refused"},
	{"{\"ok\":false,\"error\":[]}", 0, false, 0, ""},
	{"", -EPROTO, false, 0, NULL},
	{"{}", -EPROTO, false, 0, NULL},
	{"{\"ok\":1}", -EPROTO, false, 0, NULL},
	{"[true]", -EPROTO, false, 0, NULL},
	{"null", -EPROTO, false, 0, NULL},
	{"{\"ok\":true", -EPROTO, false, 0, NULL},
	{"{\"ok\":true,\"a\":[[[[[[[[[[]]]]]]]]]]}", -EPROTO, false, 0, NULL},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(reply_fini) struct reply reply = {0};
		int r = reply_parse(cases[i].line, strlen(cases[i].line), &reply);

		if (r != cases[i].r || reply.is_ok != cases[i].is_ok || reply.code != cases[i].code)
			fail_msg("%s: %d %d %ld", cases[i].line, r, reply.is_ok, reply.code);
		if (r == 0 && *cases[i].text)
			assert_string_equal(reply.text, cases[i].text);
	}
}

static void test_fields(void **state)
{
	static const char line[] = "{\"ok\":true,\"n\":5,\"b\":true,\"s\":\"x\",\"f\":1.5}";
	_cleanup_(reply_fini) struct reply reply = {0};

	(void)state;
	assert_int_equal(reply_parse(line, strlen(line), &reply), 0);
	assert_int_equal(reply_int(&reply, "n", 1), 5);
	assert_int_equal(reply_int(&reply, "f", 1), 1);
	assert_int_equal(reply_int(&reply, "none", 1), 1);
	assert_true(reply_bool(&reply, "b", false));
	assert_true(reply_bool(&reply, "s", true));
	assert_string_equal(reply_string(&reply, "s", "d"), "x");
	assert_string_equal(reply_string(&reply, "n", "d"), "d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
