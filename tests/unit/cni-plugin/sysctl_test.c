// SPDX-License-Identifier: Apache-2.0
#include "sysctl.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/fdio.h"
#include "lab.h"

struct look {
	const char *ifname, *key;
	char value;
};

static int read_value(void *arg)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(16);
	struct look *look = arg;
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/%s", look->ifname, look->key);
	if (buf_read_file(&text, path) < 0)
		return -1;
	look->value = text.data[0];
	return 0;
}

static char value_of(struct lab *lab, const char *ifname, const char *key)
{
	struct look look = {.ifname = ifname, .key = key};

	assert_int_equal(netns_run(lab->pod_fd, read_value, &look), 0);
	return look.value;
}

static int ipv6_off(void *arg)
{
	(void)arg;
	return fdio_write_text("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
}

static void prepares_names_with_dots(void **state)
{
	struct lab *lab = lab_get(state);
	static const char *const names[] = {"eth0", "a.1", "all.x", "abcdefghijklmno"};
	struct err err = ERR_INIT;

	assert_int_equal(netns_run(lab->pod_fd, ipv6_off, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct link_veth veth = {.name = names[i], .peer_name = "peer",
					       .peer_netns_fd = -1};
		struct link_info info;

		assert_int_equal(link_add_veth(lab->pod, &veth, &err), 0);
		if (sysctl_prepare(lab->pod_fd, names[i], i > 0, &err) < 0)
			fail_msg("%s: %s", names[i], err.text);
		assert_int_equal(value_of(lab, names[i], "accept_ra"), '0');
		assert_int_equal(value_of(lab, names[i], "accept_dad"), '0');
		assert_int_equal(value_of(lab, names[i], "dad_transmits"), '0');
		// IPv6 stays off where the pod has no IPv6 address.
		assert_int_equal(value_of(lab, names[i], "disable_ipv6"), i > 0 ? '0' : '1');
		assert_int_equal(value_of(lab, "lo", "disable_ipv6"), i > 0 ? '0' : '1');
		assert_int_equal(link_get_by_name(lab->pod, names[i], &info, &err), 0);
		assert_int_equal(link_del(lab->pod, info.ifindex, &err), 0);
	}
}

static void names_what_is_missing(void **state)
{
	struct lab *lab = lab_get(state);
	struct err err = ERR_INIT;

	assert_true(sysctl_prepare(lab->pod_fd, "nope", true, &err) < 0);
	assert_non_null(strstr(err.text, "conf/nope/disable_ipv6"));
	assert_true(sysctl_prepare(-1, "eth0", true, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(prepares_names_with_dots, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(names_what_is_missing, lab_setup, lab_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
