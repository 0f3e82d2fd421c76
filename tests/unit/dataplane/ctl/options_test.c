// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <string.h>
#include <sys/socket.h>

#include "options.h"

struct row {
	const char *name;
	char *argv[8];
	int result;
	const char *run_dir, *args; // args joined by a space
	bool json, stats;
	int family;
};

static const struct row rows[] = {
	{"nothing", {"weftctl"}, 0, "/run/weft", "", false, false, AF_UNSPEC},
	{"before", {"weftctl", "-j", "--run-dir", "d", "pod"}, 0, "d", "pod", true, false, 0},
	{"behind", {"weftctl", "pod", "-s", "--run-dir=d", "x"}, 0, "d", "pod x", false, true, 0},
	{"together", {"weftctl", "-js4", "pod"}, 0, "/run/weft", "pod", true, true, AF_INET},
	{"v6", {"weftctl", "-6", "pod"}, 0, "/run/weft", "pod", false, false, AF_INET6},
	{"of the command",
	 {"weftctl", "u", "--netns", "n", "-j"},
	 0,
	 "/run/weft",
	 "u --netns n",
	 true,
	 false,
	 0},
	{"ended", {"weftctl", "pod", "--", "-j"}, 0, "/run/weft", "pod -j", false, false, 0},
	{"a dash", {"weftctl", "-"}, 0, "/run/weft", "-", false, false, 0},
	{"longer name",
	 {"weftctl", "--run-dirs", "d"},
	 0,
	 "/run/weft",
	 "--run-dirs d",
	 false,
	 false,
	 0},
	{"both families", {"weftctl", "-4", "-6"}, CTL_USAGE, NULL, NULL, false, false, 0},
	{"no value", {"weftctl", "--run-dir"}, CTL_USAGE, NULL, NULL, false, false, 0},
	{"empty value", {"weftctl", "--run-dir="}, CTL_USAGE, NULL, NULL, false, false, 0},
};

static void check_args(char *const *args, const char *want)
{
	char joined[128] = "";
	size_t len = 0;

	for (size_t i = 0; args[i]; i++)
		len += (size_t)snprintf(joined + len, sizeof(joined) - len, "%s%s", i ? " " : "",
					args[i]);
	assert_string_equal(joined, want);
}

static void parses_command_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct row row = rows[i];
		struct options o = {0};
		struct err err = ERR_INIT;

		print_message("%s\n", row.name);
		assert_int_equal(options_parse(row.argv, &o, &err), row.result);
		assert_int_equal(err.text[0] != '\0', row.result != 0);
		if (row.result)
			continue;
		assert_string_equal(o.ctl.run_dir, row.run_dir);
		assert_int_equal(o.ctl.json, row.json);
		assert_int_equal(o.ctl.stats, row.stats);
		assert_int_equal(o.ctl.family, row.family);
		check_args(o.args, row.args);
	}
}

static void reads_values(void **state)
{
	const char *netns = "weft", *host_if = "weft0";
	const struct option_value values[] = {{"--netns", &netns}, {"--host-if", &host_if}};
	char *good[] = {"--host-if=h", "--netns", "n", NULL};
	char *unknown[] = {"--netns", "n", "--other", NULL};
	char *open_end[] = {"--netns", NULL};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(options_parse_values(good, values, 2, &err), 0);
	assert_string_equal(netns, "n");
	assert_string_equal(host_if, "h");
	assert_int_equal(options_parse_values(unknown, values, 2, &err), CTL_USAGE);
	assert_non_null(strstr(err.text, "--other"));
	assert_int_equal(options_parse_values(open_end, values, 2, &err), CTL_USAGE);
	assert_non_null(strstr(err.text, "--netns"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_command_lines),
		cmocka_unit_test(reads_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
