// SPDX-License-Identifier: Apache-2.0
#include "udpseg.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "netlink/netns.h"

#define FEATURE "tx-udp-segmentation"
#define FEATURES_MAX 512 // bits; kernels have about 64

bool udpseg_is_lossy_release(const char *release)
{
	unsigned major = 0, minor = 0;

	return sscanf(release, "%u.%u", &major, &minor) != 2 || major < 6 ||
	       (major == 6 && minor < 2);
}

bool udpseg_is_lossy(void)
{
	struct utsname name;

	return uname(&name) < 0 || udpseg_is_lossy_release(name.release);
}

static int request(int sock, const char *ifname, void *data)
{
	struct ifreq ifr = {.ifr_data = data};

	memcpy(ifr.ifr_name, ifname, strnlen(ifname, IFNAMSIZ - 1));
	return ioctl(sock, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

static int count_features(int sock, const char *ifname, uint32_t *ret_count)
{
	union {
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)]; // for one count
	} ask = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_FEATURES}};
	int r = request(sock, ifname, &ask);

	if (r < 0)
		return r;
	*ret_count = ask.info.sset_mask ? ask.info.data[0] : 0;
	return *ret_count <= FEATURES_MAX ? 0 : -E2BIG;
}

// The bit of the feature, or -1 where the kernel has no such name.
static int find_feature(int sock, const char *ifname, uint32_t count, int *ret_bit)
{
	_free_ struct ethtool_gstrings *names =
		calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	int r;

	if (!names)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = count;
	r = request(sock, ifname, names);
	if (r < 0)
		return r;
	*ret_bit = -1;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = (const char *)names->data + (size_t)i * ETH_GSTRING_LEN;

		if (strncmp(name, FEATURE, ETH_GSTRING_LEN) == 0)
			*ret_bit = (int)i;
	}
	return 0;
}

static int clear_feature(int sock, const char *ifname, uint32_t count, int bit)
{
	uint32_t words = (count + 31) / 32;
	_free_ struct ethtool_sfeatures *set =
		calloc(1, sizeof(*set) + words * sizeof(set->features[0]));

	if (!set)
		return -ENOMEM;
	set->cmd = ETHTOOL_SFEATURES;
	set->size = words;
	set->features[bit / 32].valid = 1u << (bit % 32);
	return request(sock, ifname, set);
}

static int disable(void *arg)
{
	const char *ifname = arg;
	_close_ int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t count = 0;
	int bit = -1, r;

	if (sock < 0)
		return -errno;
	r = count_features(sock, ifname, &count);
	if (r == 0)
		r = find_feature(sock, ifname, count, &bit);
	if (r == 0 && bit >= 0)
		r = clear_feature(sock, ifname, count, bit);
	return r == -EOPNOTSUPP ? 0 : r;
}

int udpseg_disable(int netns_fd, const char *ifname, struct err *err)
{
	int r = netns_run(netns_fd, disable, (void *)ifname);

	return r < 0 ? err_set(err, -r, "switch " FEATURE " off on `%s`", ifname) : r;
}
