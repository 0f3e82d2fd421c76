// SPDX-License-Identifier: Apache-2.0
#include "sysctl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "netlink/netns.h"

#define V6_CONF "/proc/sys/net/ipv6/conf"

struct job {
	const char *ifname;
	bool need_v6;
	struct err *err;
};

// ifname may hold dots and per cent signs: it is one path component here, never a dotted key.
static int set(const char *ifname, const char *key, char value, struct err *err)
{
	_cleanup_(buf_fini) struct buf now = BUF_INIT(64);
	const char text[2] = {value, 0};
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), V6_CONF "/%s/%s", ifname, key);
	r = fdio_write_text(path, text);
	if (r == 0)
		return 0;
	if (buf_read_file(&now, path) == 0 && now.len > 0 && now.data[0] == value)
		return 0;
	return err_set(err, -r, "write %c to `%s`", value, path);
}

static int prepare(void *arg)
{
	const struct job *job = arg;
	struct err *err = job->err;
	int r = 0;

	if (access(V6_CONF, F_OK) < 0)
		return job->need_v6 ? err_set(err, EAFNOSUPPORT, "IPv6 in this kernel") : 0;
	if (job->need_v6) {
		r = set("lo", "disable_ipv6", '0', err);
		if (r == 0)
			r = set(job->ifname, "disable_ipv6", '0', err);
	}
	if (r == 0)
		r = set(job->ifname, "accept_ra", '0', err);
	if (r == 0)
		r = set(job->ifname, "accept_dad", '0', err);
	if (r == 0)
		r = set(job->ifname, "dad_transmits", '0', err);
	return r;
}

int sysctl_prepare(int netns_fd, const char *ifname, bool need_v6, struct err *err)
{
	struct err own = ERR_INIT;
	struct job job = {.ifname = ifname, .need_v6 = need_v6, .err = &own};
	int r = netns_run(netns_fd, prepare, &job);

	if (r < 0 && own.text[0] == 0)
		return err_set(err, -r, "enter the pod's network namespace");
	if (r < 0)
		*err = own;
	return r;
}
