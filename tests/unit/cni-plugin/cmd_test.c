// SPDX-License-Identifier: Apache-2.0
#include "cmd.h"

#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"

#define CONF(version)                                                                           \
	"{\"cniVersion\":\"" version "\",\"name\":\"n\",\"runDir\":\"/nonexistent/x\"}"

static void finds_faults_in_order(void **state)
{
	static const struct {
		const char *verb, *id, *conf;
		unsigned code;
	} cases[] = {
		{"FOO", "", "{", 4},
		{"add", "c1", CONF("1.0.0"), 4},
		{"ADD", "", "{", 4},
		{"ADD", "c1", "{", 6},
		{"ADD", "c1", CONF("9.9.9"), 1},
		{"ADD", "c1", "{\"cniVersion\":\"9\"}", 7},
		{"ADD", "c1", CONF("1.0.0"), 8},
		{"CHECK", "c1", CONF("0.3.1"), 1},
		{"CHECK", "c1", CONF("0.4.0"), 7},
		{"STATUS", "", CONF("1.0.0"), 1},
		{"STATUS", "", CONF("1.1.0"), 50},
		{"GC", "", CONF("1.0.0"), 1},
	};

	(void)state;
	call_env("/nope");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_free_ char *text = NULL;
		struct err err = ERR_INIT;
		int r;

		setenv("CNI_CONTAINERID", cases[i].id, 1);
		r = call_verb(cases[i].verb, cases[i].conf, &text, &err);
		if (r >= 0 || err.code != cases[i].code || text)
			fail_msg("%s %s: %d, code %u, %s", cases[i].verb, cases[i].conf, r,
				 err.code, err.text);
	}
}

static void counts_from_the_start(void **state)
{
	const struct cmd_call call = {.start_ns = 5};

	(void)state;
	assert_int_equal(cmd_deadline(&call, 2), 5 + 2 * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_faults_in_order),
		cmocka_unit_test(counts_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
