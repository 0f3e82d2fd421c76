// SPDX-License-Identifier: Apache-2.0
#include "cni_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "cm.h"

#define ALL (CNI_NEEDS_ATTACHMENT | CNI_NEEDS_NETNS | CNI_NEEDS_PATH | CNI_NEEDS_ARGS)

static const char *const names[] = {"CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME",
				    "CNI_PATH",	       "CNI_ARGS",  "CNI_NETNS_OVERRIDE"};

// values in the order of names; NULL = unset.
static void set_env(const char *const values[ARRAY_LEN(names)])
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (values[i])
			setenv(names[i], values[i], 1);
		else
			unsetenv(names[i]);
	}
}

static void reads_or_refuses(void **state)
{
	static const struct {
		const char *name;
		const char *env[ARRAY_LEN(names)];
		unsigned needs;
		const char *text; // part of the error, NULL = fine
	} cases[] = {
		{"all there", {"c1", "/n", "eth0", "/b"}, ALL, NULL},
		{"all missing",
		 {0},
		 ALL,
		 "[CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH] missing"},
		{"empty is missing",
		 {"", "/n", "eth0", ""},
		 ALL,
		 "[CNI_CONTAINERID,CNI_PATH] missing"},
		{"netns optional",
		 {"c1", NULL, "eth0", "/b"},
		 CNI_NEEDS_ATTACHMENT | CNI_NEEDS_PATH,
		 NULL},
		{"nothing needed", {0}, 0, NULL},
		{"id with path", {"../x", "/n", "eth0", "/b"}, ALL, "CNI_CONTAINERID"},
		{"id with dash first", {"-x", "/n", "eth0", "/b"}, ALL, "CNI_CONTAINERID"},
		{"id with all characters", {"a_.-Z9", "/n", "eth0", "/b"}, ALL, NULL},
		{"ifname 15", {"c1", "/n", "abcdefghijklmno", "/b"}, ALL, NULL},
		{"ifname 16", {"c1", "/n", "abcdefghijklmnop", "/b"}, ALL, "longer than 15"},
		{"ifname .", {"c1", "/n", ".", "/b"}, ALL, "is . or .."},
		{"ifname ..", {"c1", "/n", "..", "/b"}, ALL, "is . or .."},
		{"ifname dots", {"c1", "/n", "a.1%", "/b"}, ALL, NULL},
		{"ifname slash", {"c1", "/n", "a/b", "/b"}, ALL, "contains / or :"},
		{"ifname colon", {"c1", "/n", "a:b", "/b"}, ALL, "contains / or :"},
		{"ifname space", {"c1", "/n", "a b", "/b"}, ALL, "white space"},
		{"ifname tab", {"c1", "/n", "a\tb", "/b"}, ALL, "white space"},
		{"ifname no-break space", {"c1", "/n", "a\u00a0b", "/b"}, ALL, "white space"},
		{"ifname em space", {"c1", "/n", "a\u2003b", "/b"}, ALL, "white space"},
		{"ifname wide space", {"c1", "/n", "a\u3000b", "/b"}, ALL, "white space"},
		{"ifname letter", {"c1", "/n", "\u00e4", "/b"}, ALL, NULL},
		{"ifname not UTF-8", {"c1", "/n", "a\xff", "/b"}, ALL, "UTF-8"},
		{"ifname cut UTF-8", {"c1", "/n", "a\xc3", "/b"}, ALL, "UTF-8"},
		{"args stranger",
		 {"c1", "/n", "eth0", "/b", "FOO=1;IgnoreUnknown=0"},
		 ALL,
		 NULL},
		{"args empty value", {"c1", "/n", "eth0", "/b", "IP=;MAC=;FOO="}, ALL, NULL},
		{"args trailing", {"c1", "/n", "eth0", "/b", "A=1;"}, ALL, NULL},
		{"args equals", {"c1", "/n", "eth0", "/b", "A=B=C"}, ALL, NULL},
		{"args no pair", {"c1", "/n", "eth0", "/b", "A"}, ALL, "`A` is not KEY=VALUE"},
		{"args no key", {"c1", "/n", "eth0", "/b", "=1"}, ALL, "is not KEY=VALUE"},
		{"args late", {"c1", "/n", "eth0", "/b", "A=1;B"}, ALL, "`B` is not KEY=VALUE"},
		{"args not looked at",
		 {"c1", "/n", "eth0", "/b", "A"},
		 CNI_NEEDS_ATTACHMENT,
		 NULL},
		{"args bad ip", {"c1", "/n", "eth0", "/b", "IP=1.2.3"}, ALL, "IP=1.2.3"},
		{"args multicast ip", {"c1", "/n", "eth0", "/b", "IP=224.0.0.1"}, ALL, "IP="},
		{"args hole", {"c1", "/n", "eth0", "/b", "IP=1.2.3.4,"}, ALL, "IP="},
		{"args bad mac", {"c1", "/n", "eth0", "/b", "MAC=1"}, ALL, "MAC=1"},
		{"args group mac",
		 {"c1", "/n", "eth0", "/b", "MAC=01:00:00:00:00:01"},
		 ALL,
		 "MAC="},
		{"args zero mac",
		 {"c1", "/n", "eth0", "/b", "MAC=00:00:00:00:00:00"},
		 ALL,
		 "MAC="},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(cni_args_fini) struct cni_args args = {0};
		struct err err = ERR_INIT;
		int r;

		set_env(cases[i].env);
		r = cni_args_read(&args, cases[i].needs, &err);
		if ((r < 0) != (cases[i].text != NULL) ||
		    (r < 0 &&
		     (!strstr(err.text, cases[i].text) || err.code != CNI_CODE_ENVIRONMENT)))
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
}

static void takes_what_args_say(void **state)
{
	static const char *const values[ARRAY_LEN(names)] = {"c1",
							     "/n",
							     "eth0",
							     "/b",
							     "K8S_POD_NAME=p;IP=10.0.0.1,10.0.0."
							     "2/24,fd00::1;K8S_POD_NAMESPACE=ns;"
							     "MAC=02:00:00:00:00:05;"
							     "IgnoreUnknown=1;K8S_POD_UID=u",
							     "true"};
	_cleanup_(cni_args_fini) struct cni_args args = {0};
	struct err err = ERR_INIT;
	char text[IPADDR_TEXT_MAX];

	(void)state;
	set_env(values);
	assert_int_equal(cni_args_read(&args, ALL, &err), 0);
	assert_string_equal(args.pod_namespace, "ns");
	assert_string_equal(args.pod_name, "p");
	assert_string_equal(args.pod_uid, "u");
	assert_true(args.netns_override);
	assert_true(args.has_mac);
	assert_int_equal(args.mac.b[5], 5);
	assert_int_equal(args.ips.count, 3);
	assert_string_equal(ipaddr_format(&args.ips.ip[1], text), "10.0.0.2");
	assert_string_equal(ipaddr_format(&args.ips.ip[2], text), "fd00::1");
}

static void bounds_addresses(void **state)
{
	struct ip_list ips = {0};

	(void)state;
	for (int i = 0; i < CNI_IPS_MAX; i++)
		assert_int_equal(cni_args_add_ips(&ips, "10.0.0.1"), 0);
	assert_int_equal(cni_args_add_ips(&ips, "10.0.0.1"), -E2BIG);
	assert_int_equal(ips.count, CNI_IPS_MAX);
}

static void takes_long_ids(void **state)
{
	char id[1026];

	(void)state;
	memset(id, 'a', sizeof(id));
	id[512] = 0;
	assert_true(cni_args_is_id(id));
	id[512] = 'a';
	id[1025] = 0;
	assert_false(cni_args_is_id(id));
	assert_false(cni_args_is_id(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_or_refuses),
		cmocka_unit_test(takes_what_args_say),
		cmocka_unit_test(bounds_addresses),
		cmocka_unit_test(takes_long_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
