// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "config.h"

#define ARGS_MAX 16
#define BASE "--node", "n1", "--manifests", "m"

static int parse(const char *const *args, struct config *c, struct err *err)
{
	char *argv[ARGS_MAX + 1] = {(char *)"weft-agent"};
	int argc = 1;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	return config_parse(argc, argv, c, err);
}

static void test_defaults(void **state)
{
	static const char *const args[] = {BASE, NULL};
	struct config c;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(parse(args, &c, &err), 0);
	assert_string_equal(c.node, "n1");
	assert_string_equal(c.manifests, "m");
	assert_string_equal(c.run_dir, "/run/weft");
	assert_string_equal(c.cni_conf_name, "10-weft.conflist");
	assert_null(c.cni_conf_dir);
	assert_null(c.metrics);
	assert_null(c.health);
	assert_int_equal(c.log_level, LOG_LEVEL_INFO);
	assert_false(c.log_json);
}

static void test_all(void **state)
{
	static const char *const args[] = {
		"--node=n1",         "--manifests=m",         "--run-dir=r", "--cni-conf-dir=d",
		"--cni-conf-name=n", "--metrics=127.0.0.1:1", "--health",    "[::1]:2",
		"--log-level=debug", "--log-format=json",     NULL};
	struct config c;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(parse(args, &c, &err), 0);
	assert_string_equal(c.run_dir, "r");
	assert_string_equal(c.cni_conf_dir, "d");
	assert_string_equal(c.cni_conf_name, "n");
	assert_string_equal(c.metrics, "127.0.0.1:1");
	assert_string_equal(c.health, "[::1]:2");
	assert_int_equal(c.log_level, LOG_LEVEL_DEBUG);
	assert_true(c.log_json);
}

#define A10 "aaaaaaaaaa"
#define LONG_DIR "/" A10 A10 A10 A10 A10 A10 A10 A10 A10 "aaaaaa" // 97, one more than fits

static const struct {
	const char *args[ARGS_MAX];
	const char *error;
} bad[] = {
	{{"--manifests", "m"}, "--node NAME is missing"},
	{{"--node", "n1"}, "--manifests DIR is missing"},
	{{"--node", "N_1", "--manifests", "m"}, "--node: `N_1` is no valid name"},
	{{BASE, "--bogus"}, "unknown option `--bogus`"},
	{{BASE, "-x"}, "unknown option `-x`"},
	{{BASE, "--run-dir"}, "--run-dir needs a value"},
	{{BASE, "--run-dir", ""}, "--run-dir: empty value"},
	{{BASE, "--run-dir", LONG_DIR}, "is too long for a socket's path"},
	{{BASE, "extra"}, "unexpected argument `extra`"},
	{{BASE, "--log-level", "loud"}, "--log-level: `loud` is no level"},
	{{BASE, "--log-format", "xml"}, "--log-format: `xml` is neither text nor json"},
	{{BASE, "--metrics", "here"}, "--metrics: `here` is no ADDR:PORT"},
	{{BASE, "--health", "127.0.0.1"}, "--health: `127.0.0.1` is no ADDR:PORT"},
	{{BASE, "--kubeconfig", "k"}, "--kubeconfig: not supported yet"},
	{{BASE, "--api-server", "u"}, "--api-server: not supported yet"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;
		struct config c;

		if (parse(bad[i].args, &c, &err) != -EINVAL || !strstr(err.text, bad[i].error))
			fail_msg("%s: `%s`", bad[i].error, err.text);
	}
}

static void test_help(void **state)
{
	static const char *const help[] = {"--help", NULL}, *const version[] = {"--version", NULL};
	struct config c;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(parse(help, &c, &err), 0);
	assert_true(c.wants_help);
	assert_int_equal(parse(version, &c, &err), 0);
	assert_true(c.wants_version);
	assert_non_null(strstr(config_usage, "--manifests DIR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
