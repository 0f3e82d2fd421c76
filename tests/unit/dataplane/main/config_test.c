// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fdio.h"
#include "main/config.h"

static int load(const char *text, size_t len, struct options *o, struct err *err, char path[64])
{
	int fd, r;

	snprintf(path, 64, "/tmp/weft-config-XXXXXX");
	fd = mkstemp(path);
	assert_int_equal(fdio_write_all(fd, text, len), 0);
	close(fd);
	options_init(o);
	*err = ERR_INIT;
	r = config_load(path, o, err);
	unlink(path);
	return r;
}

static void test_values(void **state)
{
	static const char text[] = "# weftd\n"
				   "run-dir: /r\n"
				   "\"state-dir\": '/s'\n"
				   "workers: 2\n"
				   "standalone: false\n"
				   "foreground: true\n"
				   "pod-cidr:\n"
				   "  - 10.1.0.0/16\n"
				   "  - fd00::/64\n"
				   "node-ip: [192.0.2.1]\n"
				   "log-format: json\n";
	struct options o;
	struct err err;
	char path[64];

	(void)state;
	if (load(text, sizeof(text) - 1, &o, &err, path) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(o.run_dir, "/r");
	assert_string_equal(o.state_dir, "/s");
	assert_int_equal(o.workers, 2);
	assert_false(o.standalone);
	assert_true(o.foreground && o.log_json);
	assert_int_equal(o.pod_cidrs.count, 2);
	assert_int_equal(o.node_ips.count, 1);
}

static void test_empty(void **state)
{
	static const char *const texts[] = {"", "\n", "# nothing\n", "---\n", "---\n...\n", "{}\n"};
	struct options o;
	struct err err;
	char path[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (load(texts[i], strlen(texts[i]), &o, &err, path) < 0)
			fail_msg("`%s`: %s", texts[i], err.text);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *error; // behind the path
	} cases[] = {
		{"mtu: 1400\n\n  \nnonsense: 7\n", ":4:1: unknown key 'nonsense'"},
		{"{mtu: 1400, x: 7}\n", ":1:13: unknown key 'x'"},
		{"config: /etc/x\n", ":1:1: unknown key 'config'"},
		{"--mtu: 1400\n", ":1:1: unknown key '--mtu'"},
		{"mtu: 1\n", ":1:6: --mtu: `1` is not within"},
		{"mtu: [1400]\n", ":1:6: expected a plain value"},
		{"mtu:\n", ":1:5: value is empty"},
		{"mtu: {a: b}\n", ":1:6: expected a plain value"},
		{"pod-cidr: {a: b}\n", ":1:11: expected a value or a list"},
		{"pod-cidr: [[10.0.0.0/8]]\n", ":1:12: expected a plain value"},
		{"pod-cidr:\n  - 10.0.0.0/8\n  - 10.0.0.1/8\n", ":3:5: --pod-cidr: `10.0.0.1/8`"},
		{"standalone: maybe\n", ":1:13: --standalone: `maybe` is neither true nor false"},
		{"- mtu\n", ":1:1: expected a mapping"},
		{"mtu\n", ":1:1: expected a mapping"},
		{"[a]: b\n", ":1:1: expected a key"},
		{"mtu: 1400\n---\nmtu: 1300\n", ": a second document"},
		{"mtu: \"14\n", ": found unexpected end of stream"},
		{"netns: b: c\n", ":1:9: mapping values are not allowed"},
		{"mtu: *unknown\n", ":1:6: expected a plain value"},
		{"\xff\xff\xff", ": "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct options o;
		struct err err;
		char path[64];

		if (load(cases[i].text, strlen(cases[i].text), &o, &err, path) >= 0 ||
		    strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, cases[i].error))
			fail_msg("case %zu: `%s`", i, err.text);
	}
}

static void test_nul_and_size(void **state)
{
	static const char nul[] = "netns: \"a\\0b\"\n";
	char *big = malloc((1 << 20) + 2);
	struct options o;
	struct err err;
	char path[64];

	(void)state;
	assert_true(load(nul, sizeof(nul) - 1, &o, &err, path) < 0);
	memset(big, '\n', (1 << 20) + 2);
	assert_true(load(big, (1 << 20) + 2, &o, &err, path) < 0);
	free(big);
	assert_true(config_load("/tmp", &o, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_nul_and_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
