// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fdio.h"
#include "main/options.h"

#define ARGS_MAX 16

static int parse(const char *const *args, struct options *o, struct err *err)
{
	char *argv[ARGS_MAX + 2] = {(char *)"weftd"};
	int argc = 1;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	*err = ERR_INIT;
	return options_parse(argc, argv, o, err);
}

static void test_defaults(void **state)
{
	static const char *const none[] = {NULL};
	struct options o;
	struct err err;

	(void)state;
	assert_int_equal(parse(none, &o, &err), 0);
	assert_string_equal(o.run_dir, "/run/weft");
	assert_string_equal(o.state_dir, "/var/lib/weft");
	assert_string_equal(o.netns, "weft");
	assert_string_equal(o.host_if, "weft0");
	assert_int_equal(o.vni, 1);
	assert_int_equal(o.vxlan_port, 4789);
	assert_int_equal(o.workers, 0);
	assert_int_equal(o.uplink, OPTIONS_UPLINK_AUTO);
	assert_int_equal(o.rx, RX_MODE_AUTO);
	assert_int_equal(o.log_level, LOG_LEVEL_INFO);
	assert_false(o.standalone || o.log_json || o.hugepages);
}

static void test_all_set(void **state)
{
	static const char *const args[] = {"--run-dir=/r",
					   "--state-dir",
					   "/s",
					   "--netns",
					   "n",
					   "--host-if=h",
					   "--workers=2",
					   "--uplink=none",
					   "--vni=16777215",
					   "--vxlan-port=8472",
					   "--mtu=9000",
					   "--standalone",
					   "--rx=mmsg",
					   "--log-level=debug",
					   "--log-format=json",
					   NULL};
	static const char *const lists[] = {"--node-ip",
					    "192.0.2.1",
					    "--node-ip=fd00::1",
					    "--pod-cidr=10.0.0.0/16",
					    "--pod-cidr=fd01::/64",
					    NULL};
	char text[IPPREFIX_TEXT_MAX];
	struct options o;
	struct err err;

	(void)state;
	assert_int_equal(parse(args, &o, &err), 0);
	assert_string_equal(o.run_dir, "/r");
	assert_string_equal(o.state_dir, "/s");
	assert_string_equal(o.netns, "n");
	assert_string_equal(o.host_if, "h");
	assert_int_equal(o.workers, 2);
	assert_int_equal(o.uplink, OPTIONS_UPLINK_NONE);
	assert_int_equal(o.vni, 16777215);
	assert_int_equal(o.vxlan_port, 8472);
	assert_int_equal(o.mtu, 9000);
	assert_true(o.standalone && o.log_json);
	assert_int_equal(o.rx, RX_MODE_MMSG);
	assert_int_equal(o.log_level, LOG_LEVEL_DEBUG);
	assert_int_equal(parse(lists, &o, &err), 0);
	assert_int_equal(o.node_ips.count, 2);
	assert_string_equal(ipprefix_format(&o.node_ips.list[1], text), "fd00::1/128");
	assert_string_equal(ipprefix_format(&o.pod_cidrs.list[0], text), "10.0.0.0/16");
}

static void test_refused(void **state)
{
	static const struct {
		const char *args[3];
		const char *text;
	} cases[] = {
		{{"--nonsense"}, "unknown option `--nonsense`"},
		{{"-x"}, "unknown option"},
		{{"stray"}, "unexpected argument `stray`"},
		{{"--run-dir"}, "no value for `--run-dir`"},
		{{"--run-dir="}, "--run-dir"},
		{{"--run-dir=relative"}, "is no absolute path"},
		{{"--run-dir=/1234567890123456789012345678901234567890123456789012345678901234567"
		  "890123456789012345678901234567890"},
		 "must be 1..95 bytes"},
		{{"--state-dir=x"}, "--state-dir: `x` is no absolute path"},
		{{"--netns=a/b"}, "--netns: `a/b` is no plain name"},
		{{"--netns=.."}, "is no plain name"},
		{{"--host-if=0123456789abcdef"}, "--host-if: must be 1..15 bytes"},
		{{"--host-if=a b"}, "is no plain name"},
		{{"--workers=0"}, "--workers: `0` is not within 1..4"},
		{{"--workers=5"}, "not within"},
		{{"--workers=-1"}, "not within"},
		{{"--workers=+1"}, "not within"},
		{{"--workers= 1"}, "not within"},
		{{"--workers=1x"}, "not within"},
		{{"--workers=99999999999999999999"}, "not within"},
		{{"--vni=16777216"}, "--vni"},
		{{"--vxlan-port=0"}, "--vxlan-port"},
		{{"--vxlan-port=65536"}, "--vxlan-port"},
		{{"--mtu=1279"}, "--mtu: `1279` is not within 1280..65535"},
		{{"--node-ip=127.0.0.1"}, "--node-ip: `127.0.0.1` is no address of a node"},
		{{"--node-ip=10.0.0.1/8"}, "--node-ip"},
		{{"--node-ip=host"}, "--node-ip"},
		{{"--pod-cidr=10.0.0.0"}, "--pod-cidr: `10.0.0.0` is no range"},
		{{"--pod-cidr=10.0.0.1/24"}, "has bits set behind its prefix length"},
		{{"--pod-cidr=10.0.0.0/33"}, "is no range"},
		{{"--pod-cidr=::ffff:10.0.0.0/120"}, "is no range"},
		{{"--standalone=yes"}, "standalone"},
		{{"--rx=fast"}, "--rx: `fast` is not one of its values"},
		{{"--routing=any"}, "--routing: `any`"},
		{{"--routing=native"}, "--routing: this release has no uplinks"},
		{{"--routing=auto"}, "--routing: this release"},
		{{"--uplink=eth0"}, "--uplink: `eth0` is not auto, none, share:INTERFACE"},
		{{"--uplink=share:"}, "--uplink"},
		{{"--uplink=share:eth0"}, "--uplink: this release has no uplinks"},
		{{"--uplink=ethdev:net_af_packet0,iface=eth0"}, "--uplink: this release"},
		{{"--metrics=127.0.0.1:9"}, "--metrics: this release has no metrics endpoint"},
		{{"--service-cidr=10.96.0.0/16"}, "--service-cidr: this release knows no Services"},
		{{"--service-cidr=10.96.0.0"}, "--service-cidr: `10.96.0.0` is no range"},
		{{"--no-masquerade-to=10.0.0.0/8"}, "--no-masquerade-to: this release"},
		{{"--log-level=loud"}, "--log-level: `loud` is no log level"},
		{{"--log-format=xml"}, "--log-format: `xml` is neither text nor json"},
		{{"--config=/nonexistent/file"}, "read `/nonexistent/file`: No such file"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct options o;
		struct err err;

		if (parse(cases[i].args, &o, &err) >= 0 || !strstr(err.text, cases[i].text))
			fail_msg("%s: `%s`", cases[i].args[0], err.text);
	}
}

static void test_too_many(void **state)
{
	struct err err = ERR_INIT;
	struct options o;

	(void)state;
	options_init(&o);
	for (int i = 0; i < OPTIONS_LIST_MAX; i++)
		assert_int_equal(options_set(&o, "node-ip", "10.0.0.1", NULL), 0);
	assert_int_equal(options_set(&o, "node-ip", "10.0.0.1", &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than 16"));
	options_clear(&o, "node-ip");
	assert_int_equal(o.node_ips.count, 0);
	assert_int_equal(options_set(&o, "no-such", "x", &err), -ENOENT);
	assert_int_equal(options_set(&o, "mtu", NULL, &err), -EINVAL);
	assert_true(options_is_flag("standalone") && !options_is_flag("mtu"));
	assert_true(options_is_list("pod-cidr") && !options_is_list("mtu"));
	assert_false(options_is_flag("no-such") || options_is_list("no-such"));
}

static void test_actions(void **state)
{
	static const char *const help[] = {"--help", "--metrics=x", NULL};
	static const char *const version[] = {"--version", NULL};
	struct options o;
	struct err err;
	char text[4096];

	(void)state;
	assert_int_equal(parse(help, &o, &err), 0);
	assert_int_equal(o.action, OPTIONS_HELP);
	assert_int_equal(parse(version, &o, &err), 0);
	assert_int_equal(o.action, OPTIONS_VERSION);
	options_usage(text, sizeof(text));
	assert_non_null(strstr(text, "--pod-cidr CIDR"));
	assert_non_null(strstr(text, "--foreground"));
	options_usage(text, 10);
	assert_int_equal(strlen(text), 9);
}

// The file says most, the command line wins; a list given there replaces the file's.
static void test_command_line_wins(void **state)
{
	static const char yaml[] =
		"mtu: 1400\nstandalone: true\npod-cidr: [10.1.0.0/16, 10.2.0.0/16]\n"
		"node-ip: 192.0.2.1\n";
	char path[] = "/tmp/weft-options-XXXXXX", config[64], text[IPPREFIX_TEXT_MAX];
	const char *const args[] = {"--pod-cidr=10.3.0.0/16", config, "--mtu=1300", NULL};
	int fd = mkstemp(path);
	struct options o;
	struct err err;

	(void)state;
	assert_int_equal(fdio_write_all(fd, yaml, sizeof(yaml) - 1), 0);
	close(fd);
	snprintf(config, sizeof(config), "--config=%s", path);
	if (parse(args, &o, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(o.mtu, 1300);
	assert_true(o.standalone);
	assert_int_equal(o.pod_cidrs.count, 1);
	assert_string_equal(ipprefix_format(&o.pod_cidrs.list[0], text), "10.3.0.0/16");
	assert_int_equal(o.node_ips.count, 1);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_all_set),
		cmocka_unit_test(test_refused),  cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_actions),  cmocka_unit_test(test_command_line_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
