// SPDX-License-Identifier: Apache-2.0
#include "udpseg.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "lab.h"

static void judges_releases(void **state)
{
	static const struct {
		const char *release;
		bool lossy;
	} cases[] = {
		{"5.10.0-28-amd64", true}, {"6.1.0-18-amd64", true}, {"6.2.0", false},
		{"6.12.1", false},	   {"7.0", false},	     {"unknown", true},
		{"", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (udpseg_is_lossy_release(cases[i].release) != cases[i].lossy)
			fail_msg("%s", cases[i].release);
	}
}

// Features that are on, of all the interface has.
static int count_features(void *arg)
{
	union {
		struct ethtool_gfeatures head;
		char room[sizeof(struct ethtool_gfeatures) +
			  8 * sizeof(struct ethtool_get_features_block)];
	} ask = {.head = {.cmd = ETHTOOL_GFEATURES, .size = 8}};
	struct ifreq ifr = {.ifr_name = "eth0", .ifr_data = (char *)&ask};
	_close_ int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int count = 0;

	(void)arg;
	if (sock < 0 || ioctl(sock, SIOCETHTOOL, &ifr) < 0)
		return -errno;
	for (uint32_t i = 0; i < ask.head.size && i < 8; i++)
		count += __builtin_popcount(ask.head.features[i].active);
	return count;
}

static void switches_one_feature_off(void **state)
{
	struct lab *lab = lab_get(state);
	const struct link_veth veth = {.name = "eth0", .peer_name = "peer", .peer_netns_fd = -1};
	struct err err = ERR_INIT;
	int before;

	assert_int_equal(link_add_veth(lab->pod, &veth, &err), 0);
	before = netns_run(lab->pod_fd, count_features, NULL);
	assert_true(before > 1);
	assert_int_equal(udpseg_disable(lab->pod_fd, "eth0", &err), 0);
	assert_int_equal(netns_run(lab->pod_fd, count_features, NULL), before - 1);
	assert_int_equal(udpseg_disable(lab->pod_fd, "eth0", &err), 0);
	assert_int_equal(netns_run(lab->pod_fd, count_features, NULL), before - 1);
	assert_true(udpseg_disable(lab->pod_fd, "nope", &err) < 0);
	assert_non_null(strstr(err.text, "nope"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_releases),
		cmocka_unit_test_setup_teardown(switches_one_feature_off, lab_setup, lab_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
