// SPDX-License-Identifier: Apache-2.0
#include "cni_conf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/fdio.h"
#include "cm.h"
#include "conf_text.h"

// Every case goes through both steps that ADD takes.
static void reads_or_refuses(void **state)
{
	static const struct {
		const char *name, *text;
		unsigned code; // 0 = fine
		const char *part;
	} cases[] = {
		{"least", "{\"name\":\"x\"}", 0, NULL},
		{"empty", "", 6, "stdin"},
		{"cut", "{x", 6, "stdin"},
		{"array", "[]", 6, "object"},
		{"null", "null", 6, "object"},
		{"two documents", "{\"name\":\"x\"}{}", 6, "stdin"},
		{"BOM", "\xef\xbb\xbf{\"name\":\"x\"}", 6, "stdin"},
		{"version number", "{\"name\":\"x\",\"cniVersion\":1.0}", 6, "cniVersion"},
		{"version null", "{\"name\":\"x\",\"cniVersion\":null}", 0, NULL},
		{"name missing", "{\"cniVersion\":\"1.0.0\"}", 7, "missing network name"},
		{"name empty", "{\"name\":\"\"}", 7, "missing network name"},
		{"name slash", "{\"name\":\"a/b\"}", 7, "network name"},
		{"name dots", "{\"name\":\"..\"}", 7, "network name"},
		{"name number", "{\"name\":1}", 6, "name"},
		{"strangers", "{\"name\":\"x\",\"foo\":{\"a\":[1]},\"capabilities\":{}}", 0,
		 NULL},
		{"runDir relative", "{\"name\":\"x\",\"runDir\":\"a\"}", 7, "runDir"},
		{"runDir number", "{\"name\":\"x\",\"runDir\":1}", 7, "runDir"},
		{"netns path", "{\"name\":\"x\",\"netns\":\"../a\"}", 7, "netns"},
		{"mtu", "{\"name\":\"x\",\"mtu\":1400}", 0, NULL},
		{"mtu small", "{\"name\":\"x\",\"mtu\":575}", 7, "mtu"},
		{"mtu large", "{\"name\":\"x\",\"mtu\":65536}", 7, "mtu"},
		{"mtu fraction", "{\"name\":\"x\",\"mtu\":1.5}", 7, "mtu"},
		{"mtu text", "{\"name\":\"x\",\"mtu\":\"1400\"}", 7, "mtu"},
		{"addTimeout", "{\"name\":\"x\",\"addTimeout\":0}", 0, NULL},
		{"addTimeout large", "{\"name\":\"x\",\"addTimeout\":15000}", 7, "addTimeout"},
		{"ipam without type", "{\"name\":\"x\",\"ipam\":{}}", 0, NULL},
		{"ipam null", "{\"name\":\"x\",\"ipam\":null}", 0, NULL},
		{"ipam list", "{\"name\":\"x\",\"ipam\":[]}", 7, "ipam"},
		{"ipam path", "{\"name\":\"x\",\"ipam\":{\"type\":\"../sh\"}}", 7, "ipam.type"},
		{"ipam dot", "{\"name\":\"x\",\"ipam\":{\"type\":\".\"}}", 7, "ipam.type"},
		{"ips bad", "{\"name\":\"x\",\"runtimeConfig\":{\"ips\":[\"1.2.3\"]}}", 7,
		 "ips"},
		{"ips number", "{\"name\":\"x\",\"runtimeConfig\":{\"ips\":[1]}}", 7, "ips"},
		{"ips null", "{\"name\":\"x\",\"runtimeConfig\":{\"ips\":null}}", 0, NULL},
		{"args ips bad", "{\"name\":\"x\",\"args\":{\"cni\":{\"ips\":[\"::\"]}}}", 7,
		 "ips"},
		{"mac bad", "{\"name\":\"x\",\"runtimeConfig\":{\"mac\":\"1\"}}", 7, "mac"},
		{"mac group",
		 "{\"name\":\"x\",\"runtimeConfig\":{\"mac\":\"01:00:00:00:00:01\"}}", 7, "mac"},
		{"aliases of podman",
		 "{\"name\":\"x\",\"runtimeConfig\":{\"aliases\":{\"x\":[]}}}", 0, NULL},
		{"hostPort 0",
		 "{\"name\":\"x\",\"runtimeConfig\":{\"portMappings\":[{\"hostPort\":0,"
		 "\"containerPort\":1}]}}",
		 7, "hostPort"},
		{"prevResult text", "{\"name\":\"x\",\"prevResult\":\"a\"}", 6, "prevResult"},
		{"prevResult ips", "{\"name\":\"x\",\"prevResult\":{\"ips\":{}}}", 6, "ips"},
		{"prevResult null", "{\"name\":\"x\",\"prevResult\":null}", 0, NULL},
		{"dns list", "{\"name\":\"x\",\"dns\":[]}", 7, "dns"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
		struct err err = ERR_INIT;
		int r = conf_from_text(&conf, cases[i].text, &err);

		if (r == 0)
			r = cni_conf_load_add(&conf, &err);
		if ((r < 0) != (cases[i].code != 0) || err.code != cases[i].code ||
		    (cases[i].part && !strstr(err.text, cases[i].part)))
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
}

static void fills_defaults(void **state)
{
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(conf_from_text(&conf, "{\"name\":\"x\"}", &err), 0);
	assert_int_equal(cni_conf_load_add(&conf, &err), 0);
	assert_string_equal(conf.version_text, "0.1.0");
	assert_string_equal(conf.run_dir, "/run/weft");
	assert_string_equal(conf.netns, "weft");
	assert_string_equal(conf.ipam_type, "");
	assert_int_equal(conf.add_timeout_s, 15);
	assert_int_equal(conf.mtu, 0);
	assert_false(conf.has_mac);
	assert_true(jval_is_null(&conf.prev_result));
}

// As Go without tags sends it.
static void ignores_case(void **state)
{
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;
	char text[IPADDR_TEXT_MAX];

	(void)state;
	assert_int_equal(conf_from_text(&conf,
					"{\"NAME\":\"x\",\"CniVersion\":\"1.0.0\",\"RUNDIR\":\"/"
					"r\","
					"\"RuntimeConfig\":{\"IPs\":[\"10.0.0.1/"
					"24\",\"fd00::1\"],"
					"\"Mac\":\"02:00:00:00:00:07\"}}",
					&err),
			 0);
	assert_int_equal(cni_conf_load_add(&conf, &err), 0);
	assert_int_equal(conf.version, CNI_VERSION_1_0_0);
	assert_string_equal(conf.run_dir, "/r");
	assert_int_equal(conf.ips.count, 2);
	assert_string_equal(ipaddr_format(&conf.ips.ip[0], text), "10.0.0.1");
	assert_true(conf.has_mac);
}

static void prefers_args_to_runtime_config(void **state)
{
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;
	char text[IPADDR_TEXT_MAX];

	(void)state;
	assert_int_equal(conf_from_text(&conf,
					"{\"name\":\"x\",\"runtimeConfig\":{\"ips\":[\"10.0.0."
					"2\"]},"
					"\"args\":{\"cni\":{\"ips\":[\"10.0.0.1\"]}}}",
					&err),
			 0);
	assert_int_equal(cni_conf_load_add(&conf, &err), 0);
	assert_int_equal(conf.ips.count, 1);
	assert_string_equal(ipaddr_format(&conf.ips.ip[0], text), "10.0.0.1");
}

static void checks_versions(void **state)
{
	static const struct {
		const char *version;
		enum cni_version min;
		bool good;
	} cases[] = {
		{"1.0.0", CNI_VERSION_0_1_0, true},  {"", CNI_VERSION_0_1_0, true},
		{"1.0", CNI_VERSION_0_1_0, false},   {"9.9.9", CNI_VERSION_0_1_0, false},
		{"0.3.1", CNI_VERSION_0_4_0, false}, {"0.4.0", CNI_VERSION_0_4_0, true},
		{"1.0.0", CNI_VERSION_1_1_0, false}, {"1.1.0", CNI_VERSION_1_1_0, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
		struct err err = ERR_INIT;
		char text[64];
		int r;

		snprintf(text, sizeof(text), "{\"name\":\"x\",\"cniVersion\":\"%s\"}",
			 cases[i].version);
		assert_int_equal(conf_from_text(&conf, text, &err), 0);
		r = cni_conf_check_version(&conf, cases[i].min, "VERB", &err);
		if ((r == 0) != cases[i].good || (r < 0 && err.code != CNI_CODE_VERSION))
			fail_msg("%s: %d, code %u", cases[i].version, r, err.code);
	}
}

static int memory_file(const char *head, size_t size)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fdio_write_all(fd, head, strlen(head)), 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void bounds_stdin(void **state)
{
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;
	_close_ int fd = memory_file("{\"name\":\"x\"}", CNI_CONF_TEXT_MAX + 1);

	(void)state;
	assert_true(cni_conf_read(&conf, fd, &err) < 0);
	assert_int_equal(err.code, CNI_CODE_DECODE);
	assert_non_null(strstr(err.text, "longer"));
}

// A large config is legal: annotations of a pod travel in it.
static void takes_large_configs(void **state)
{
	static const char head[] = "{\"name\":\"x\",\"a\":\"", tail[] = "\"}";
	size_t size = 3u << 20;
	_free_ char *text = malloc(size);
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;
	_close_ int fd = memfd_create("stdin", MFD_CLOEXEC);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', size);
	memcpy(text, head, strlen(head));
	memcpy(text + size - strlen(tail), tail, strlen(tail));
	assert_int_equal(fdio_write_all(fd, text, size), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(cni_conf_read(&conf, fd, &err), 0);
	assert_string_equal(conf.name, "x");
	assert_int_equal(conf.text.len, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_or_refuses),
		cmocka_unit_test(fills_defaults),
		cmocka_unit_test(ignores_case),
		cmocka_unit_test(prefers_args_to_runtime_config),
		cmocka_unit_test(checks_versions),
		cmocka_unit_test(bounds_stdin),
		cmocka_unit_test(takes_large_configs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
