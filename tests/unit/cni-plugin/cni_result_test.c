// SPDX-License-Identifier: Apache-2.0
#include "cni_result.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "cm.h"

static void set_ip(struct ip_list *list, const char *text)
{
	assert_int_equal(ipaddr_parse(text, &list->ip[list->count++]), 0);
}

static struct jdoc *parse(const char *text)
{
	static const struct jlimits limits = {.bytes = 1 << 20, .depth = 32};
	struct jdoc *doc = NULL;

	assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
	return doc;
}

static struct cni_result dual_stack(void)
{
	struct cni_result res = {
		.ifname = "eth0",
		.sandbox = "/run/netns/a",
		.mac = {{2, 0, 0, 0, 0, 1}},
		.mtu = 1450,
	};

	set_ip(&res.ips, "10.0.0.5");
	set_ip(&res.gateways, "169.254.1.1");
	set_ip(&res.ips, "fd00::5");
	set_ip(&res.gateways, "fe80::1");
	return res;
}

#define ITF "{\"name\":\"eth0\",\"mac\":\"02:00:00:00:00:01\","
#define ROUTES                                                                                  \
	"\"routes\":[{\"dst\":\"0.0.0.0/0\",\"gw\":\"169.254.1.1\"},"                           \
	"{\"dst\":\"::/0\",\"gw\":\"fe80::1\"}],\"dns\":{}}"

static void speaks_each_version(void **state)
{
	static const struct {
		enum cni_version version;
		const char *text;
	} cases[] = {
		{CNI_VERSION_0_1_0, "{\"cniVersion\":\"0.1.0\",\"ip4\":{\"ip\":\"10.0.0.5/"
				    "32\",\"gateway\":\"169.254.1.1\","
				    "\"routes\":[{\"dst\":\"0.0.0.0/"
				    "0\",\"gw\":\"169.254.1.1\"}]},"
				    "\"ip6\":{\"ip\":\"fd00::5/128\",\"gateway\":\"fe80::1\","
				    "\"routes\":[{\"dst\":\"::/"
				    "0\",\"gw\":\"fe80::1\"}]},\"dns\":{}}"},
		{CNI_VERSION_0_3_1, "{\"cniVersion\":\"0.3.1\",\"interfaces\":[" ITF "\"sandbox"
										     "\":\"/run/"
										     "netns/"
										     "a\"}],"
				    "\"ips\":[{\"version\":\"4\",\"interface\":0,\"address\":"
				    "\"10.0.0.5/32\","
				    "\"gateway\":\"169.254.1.1\"},{\"version\":\"6\","
				    "\"interface\":0,"
				    "\"address\":\"fd00::5/"
				    "128\",\"gateway\":\"fe80::1\"}]," ROUTES},
		{CNI_VERSION_1_0_0, "{\"cniVersion\":\"1.0.0\",\"interfaces\":[" ITF "\"sandbox"
										     "\":\"/run/"
										     "netns/"
										     "a\"}],"
				    "\"ips\":[{\"interface\":0,\"address\":\"10.0.0.5/"
				    "32\",\"gateway\":\"169.254.1.1\"},"
				    "{\"interface\":0,\"address\":\"fd00::5/"
				    "128\",\"gateway\":\"fe80::1\"}]," ROUTES},
		{CNI_VERSION_1_1_0, "{\"cniVersion\":\"1.1.0\",\"interfaces\":[" ITF "\"mtu\":"
										     "1450,"
										     "\"sandbox"
										     "\":\"/run/"
										     "netns/"
										     "a\"}],"
				    "\"ips\":[{\"interface\":0,\"address\":\"10.0.0.5/"
				    "32\",\"gateway\":\"169.254.1.1\"},"
				    "{\"interface\":0,\"address\":\"fd00::5/"
				    "128\",\"gateway\":\"fe80::1\"}]," ROUTES},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cni_result res = dual_stack();
		_free_ char *text = NULL;

		res.version = cases[i].version;
		text = cni_result_text(&res);
		assert_non_null(text);
		assert_string_equal(text, cases[i].text);
	}
}

static void keeps_prev_result_first(void **state)
{
	_cleanup_(jdoc_freep) struct jdoc *prev = parse("{\"Interfaces\":[{\"name\":\"a\",\"x\":"
							"1},{\"name\":\"b\"}],"
							"\"ips\":[{\"address\":\"10.9.0.1/"
							"24\",\"interface\":1}],"
							"\"routes\":[{\"dst\":\"10.9.0.0/"
							"16\"}],\"dns\":{\"domain\":\"prev\"}}");
	_cleanup_(jdoc_freep) struct jdoc *dns = parse("{\"domain\":\"ours\"}");
	struct cni_result res = dual_stack();
	_free_ char *text = NULL;

	(void)state;
	res.version = CNI_VERSION_1_0_0;
	res.prev = jdoc_root(prev);
	res.dns = jdoc_root(dns);
	text = cni_result_text(&res);
	assert_string_equal(text, "{\"cniVersion\":\"1.0.0\",\"interfaces\":[{\"name\":\"a\","
				  "\"x\":1},"
				  "{\"name\":\"b\"}," ITF "\"sandbox\":\"/run/netns/a\"}],"
				  "\"ips\":[{\"address\":\"10.9.0.1/24\",\"interface\":1},"
				  "{\"interface\":2,\"address\":\"10.0.0.5/"
				  "32\",\"gateway\":\"169.254.1.1\"},"
				  "{\"interface\":2,\"address\":\"fd00::5/"
				  "128\",\"gateway\":\"fe80::1\"}],"
				  "\"routes\":[{\"dst\":\"10.9.0.0/16\"},"
				  "{\"dst\":\"0.0.0.0/0\",\"gw\":\"169.254.1.1\"},"
				  "{\"dst\":\"::/"
				  "0\",\"gw\":\"fe80::1\"}],\"dns\":{\"domain\":\"prev\"}}");
}

// Runtimes put an empty dns into every prevResult.
static void says_own_dns_beside_an_empty_one(void **state)
{
	_cleanup_(jdoc_freep) struct jdoc *prev = parse("{\"dns\":{}}");
	_cleanup_(jdoc_freep) struct jdoc *dns = parse("{\"domain\":\"ours\"}");
	struct cni_result res = dual_stack();
	_free_ char *text = NULL;

	(void)state;
	res.version = CNI_VERSION_1_0_0;
	res.prev = jdoc_root(prev);
	res.dns = jdoc_root(dns);
	text = cni_result_text(&res);
	assert_non_null(strstr(text, "\"dns\":{\"domain\":\"ours\"}"));
}

static void prints_errors(void **state)
{
	static const struct {
		const char *name;
		int r;
		struct err err;
		const char *version, *text;
	} cases[] = {
		{"code",
		 -EINVAL,
		 {.code = 7, .text = "bad"},
		 "0.4.0",
		 "{\"cniVersion\":\"0.4.0\",\"code\":7,\"msg\":\"bad\"}"},
		{"details",
		 -EINVAL,
		 {.code = 1, .text = "a\nb: c"},
		 "1.0.0",
		 "{\"cniVersion\":\"1.0.0\",\"code\":1,\"msg\":\"a\",\"details\":\"b: c\"}"},
		{"no version",
		 -EINVAL,
		 {.code = 4, .text = "a"},
		 NULL,
		 "{\"cniVersion\":\"1.0.0\",\"code\":4,\"msg\":\"a\"}"},
		{"no text",
		 -EIO,
		 {.code = 0},
		 NULL,
		 "{\"cniVersion\":\"1.0.0\",\"code\":5,\"msg\":\"Input/output error\"}"},
		{"away",
		 -ECONNREFUSED,
		 {.text = "a"},
		 NULL,
		 "{\"cniVersion\":\"1.0.0\",\"code\":11,\"msg\":\"a\"}"},
		{"config",
		 -ERANGE,
		 {.text = "a"},
		 NULL,
		 "{\"cniVersion\":\"1.0.0\",\"code\":7,\"msg\":\"a\"}"},
		{"bytes",
		 -EINVAL,
		 {.code = 4, .text = "\x01\xff\""},
		 NULL,
		 "{\"cniVersion\":\"1.0.0\",\"code\":4,\"msg\":\"\\u0001\xef\xbf\xbd\\\"\"}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_free_ char *owned = NULL;
		const char *text =
			cni_error_text(cases[i].r, &cases[i].err, cases[i].version, &owned);

		if (strcmp(text, cases[i].text) != 0)
			fail_msg("%s: %s", cases[i].name, text);
	}
}

static void gives_a_code_once(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(cni_code(&err, 0, CNI_CODE_IO), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(cni_code(&err, -EIO, CNI_CODE_IO), -EIO);
	assert_int_equal(cni_code(&err, -EIO, CNI_CODE_CONFIG), -EIO);
	assert_int_equal(err.code, CNI_CODE_IO);
	assert_int_equal(cni_code(NULL, -EIO, CNI_CODE_IO), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speaks_each_version),
		cmocka_unit_test(keeps_prev_result_first),
		cmocka_unit_test(says_own_dns_beside_an_empty_one),
		cmocka_unit_test(prints_errors),
		cmocka_unit_test(gives_a_code_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
