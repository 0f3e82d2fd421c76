// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"

static void echoes_what_looks_like_a_version(void **state)
{
	static const struct {
		const char *in, *version;
	} cases[] = {
		{"{\"cniVersion\":\"0.4.0\"}", "0.4.0"}, {"{\"CNIVERSION\":\"0.4.0\"}", "0.4.0"},
		{"{\"cniVersion\":\"9.9.9\"}", "9.9.9"}, {"{\"cniVersion\":\"\"}", "1.1.0"},
		{"{\"cniVersion\":\"a b\"}", "1.1.0"},	 {"{\"cniVersion\":1}", "1.1.0"},
		{"[]", "1.1.0"},			 {"{", "1.1.0"},
		{"", "1.1.0"},
		{"{\"cniVersion\":\"123456789012345678901234567890123\"}", "1.1.0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_free_ char *text = NULL;
		struct err err = ERR_INIT;
		char want[64];

		assert_int_equal(call_verb("VERSION", cases[i].in, &text, &err), 0);
		snprintf(want, sizeof(want), "{\"cniVersion\":\"%s\",\"supportedVersions\":[",
			 cases[i].version);
		if (strncmp(text, want, strlen(want)) != 0)
			fail_msg("%s: %s", cases[i].in, text);
	}
}

// Somebody who started us by hand, or a runtime that forgot to close the pipe.
static void does_not_wait_for_stdin(void **state)
{
	struct cmd_call call = {.start_ns = clock_now_ns()};
	_free_ char *text = NULL;
	struct err err = ERR_INIT;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(cmd_version(&call, &text, &err), 0);
	assert_non_null(strstr(text, "\"1.1.0\""));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echoes_what_looks_like_a_version),
		cmocka_unit_test(does_not_wait_for_stdin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
