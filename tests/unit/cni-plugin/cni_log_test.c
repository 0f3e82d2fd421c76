// SPDX-License-Identifier: Apache-2.0
#include "cni_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/log.h"
#include "cm.h"

LOG_MODULE("test");

static void chooses_the_level(void **state)
{
	static const struct {
		const char *file, *level;
		bool info, debug;
	} cases[] = {
		{"", "", false, false},	     {"", "info", true, false},
		{"", "nonsense", false, false}, {"", "debug", true, true},
		{"/nonexistent/log", "", true, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cni_conf conf = {.log_file = cases[i].file, .log_level = cases[i].level};

		cni_log_open(&conf);
		assert_int_equal(log_enabled(LOG_LEVEL_INFO), cases[i].info);
		assert_int_equal(log_enabled(LOG_LEVEL_DEBUG), cases[i].debug);
	}
}

// Last, since the file stays the target of the process.
static void writes_to_the_file(void **state)
{
	char path[] = P_tmpdir "/weft-log-XXXXXX";
	_close_ int fd = mkstemp(path);
	struct cni_conf conf = {.log_file = path, .log_level = ""};
	char text[256] = "";

	(void)state;
	assert_true(fd >= 0);
	cni_log_open(&conf);
	LOG_INFO("hello", "x=%d", 1);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "hello x=1"));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses_the_level),
		cmocka_unit_test(writes_to_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
