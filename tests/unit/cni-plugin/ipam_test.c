// SPDX-License-Identifier: Apache-2.0
#include "ipam.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/fdio.h"
#include "cm.h"
#include "conf_text.h"

static char dir[] = P_tmpdir "/weft-ipam-XXXXXX";

static void write_plugin(const char *body)
{
	char path[64], text[512];
	_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/plug", dir);
	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", body);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(fdio_write_all(fd, text, strlen(text)), 0);
}

static struct cni_args make_args(char path[128])
{
	// The first folder has none, the second is no folder.
	snprintf(path, 128, "/nonexistent:/dev/null::%s", dir);
	return (struct cni_args){.path = path};
}

static void reads_leases(void **state)
{
	static const struct {
		const char *name, *version, *body, *first; // address, NULL = refused
		size_t count;
		bool unsure;
		unsigned code;
	} cases[] = {
		{"one", "1.0.0", "echo '{\"ips\":[{\"address\":\"10.0.0.1/24\"}]}'", "10.0.0.1", 1,
		 false, 0},
		{"two", "0.3.1",
		 "echo '{\"ips\":[{\"address\":\"10.0.0.1/24\"},{\"address\":\"fd00::1/64\"}]}'",
		 "10.0.0.1", 2, false, 0},
		{"legacy", "0.2.0",
		 "echo '{\"ip4\":{\"ip\":\"10.0.0.1/24\"},\"ip6\":{\"ip\":\"fd00::1/64\"}}'",
		 "10.0.0.1", 2, false, 0},
		{"sees its verb", "1.0.0",
		 "[ $CNI_COMMAND = ADD ] && echo '{\"ips\":[{\"address\":\"10.0.0.1/24\"}]}'",
		 "10.0.0.1", 1, false, 0},
		{"entry", "1.0.0", "echo '{\"ips\":[1]}'", NULL, 0, true, 104},
		{"list", "1.0.0", "echo '{\"ips\":{}}'", NULL, 0, true, 104},
		{"array", "1.0.0", "echo '[]'", NULL, 0, true, 104},
		{"loopback", "1.0.0", "echo '{\"ips\":[{\"address\":\"127.0.0.1/8\"}]}'", NULL, 0,
		 true, 104},
		{"refusal", "1.0.0", "echo '{\"code\":100,\"msg\":\"full\"}'; exit 1", NULL, 0,
		 false, 104},
		{"later", "1.0.0", "echo '{\"code\":11,\"msg\":\"busy\"}'; exit 1", NULL, 0, false,
		 11},
		{"signal", "1.0.0", "kill -9 $$", NULL, 0, true, 104},
	};
	char path[128], text[128], addr[IPADDR_TEXT_MAX];
	struct cni_args args = make_args(path);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(ipam_lease_fini) struct ipam_lease lease = {0};
		_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
		struct err err = ERR_INIT;
		bool unsure = false;
		int r;

		snprintf(text, sizeof(text),
			 "{\"name\":\"n\",\"cniVersion\":\"%s\",\"ipam\":{\"type\":\"plug\"}}",
			 cases[i].version);
		assert_int_equal(conf_from_text(&conf, text, &err), 0);
		write_plugin(cases[i].body);
		r = ipam_add(&args, &conf, &lease, &unsure, &err);
		if ((r == 0) != (cases[i].first != NULL) || unsure != cases[i].unsure ||
		    err.code != cases[i].code || lease.ips.count != cases[i].count ||
		    (r == 0 && strcmp(ipaddr_format(&lease.ips.ip[0], addr), cases[i].first) != 0))
			fail_msg("%s: %d, code %u, unsure %d, %s", cases[i].name, r, err.code,
				 unsure, err.text);
	}
}

static void forwards_verbs(void **state)
{
	static const struct {
		const char *verb, *body;
		int want; // -1 = an error
	} cases[] = {
		{"DEL", "[ $CNI_COMMAND = DEL ]", 0},
		{"GC", "[ $CNI_COMMAND = GC ]", 0},
		{"GC", "echo '{\"code\":4,\"msg\":\"what\"}'; exit 1", IPAM_UNSUPPORTED},
		{"STATUS", "echo '{\"code\":3,\"msg\":\"what\"}'; exit 1", IPAM_UNSUPPORTED},
		{"STATUS", "echo '{\"code\":50,\"msg\":\"full\"}'; exit 1", -1},
		{"DEL", "echo '{\"code\":4,\"msg\":\"what\"}'; exit 1", -1},
		{"CHECK", "exit 1", -1},
	};
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;
	char path[128];
	struct cni_args args = make_args(path);

	(void)state;
	assert_int_equal(
		conf_from_text(&conf, "{\"name\":\"n\",\"ipam\":{\"type\":\"plug\"}}", &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int r;

		write_plugin(cases[i].body);
		r = ipam_call(&args, &conf, cases[i].verb, 10000, &err);
		if ((r < 0 ? -1 : r) != cases[i].want)
			fail_msg("%s %s: %d, %s", cases[i].verb, cases[i].body, r, err.text);
	}
}

static void needs_the_plugin_only_where_it_is_named(void **state)
{
	_cleanup_(cni_conf_fini) struct cni_conf with = {0}, without = {0};
	struct cni_args args = {.path = "/nonexistent"};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(conf_from_text(&without, "{\"name\":\"n\",\"ipam\":{}}", &err), 0);
	assert_false(ipam_is_used(&without));
	assert_int_equal(conf_from_text(&with, "{\"name\":\"n\",\"ipam\":{\"type\":\"p\"}}", &err),
			 0);
	assert_true(ipam_is_used(&with));
	assert_int_equal(ipam_call(&args, &with, "DEL", 1000, &err), -ENOENT);
	assert_int_equal(err.code, CNI_CODE_DELEGATE);
	assert_non_null(strstr(err.text, "/nonexistent"));
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/plug", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_leases),
		cmocka_unit_test(forwards_verbs),
		cmocka_unit_test(needs_the_plugin_only_where_it_is_named),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
