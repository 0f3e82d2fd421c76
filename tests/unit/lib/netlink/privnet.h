// SPDX-License-Identifier: Apache-2.0
// Network and mount namespaces of the test's own: nothing done here reaches the machine.
#pragma once

#include "harness/cm.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/err.h"
#include "netlink/link.h"
#include "netlink/netns.h"
#include "netlink/rtnl.h"

// cmocka group set-up: leaves the machine's namespaces and puts an empty /run in front of its own.
// Without root it does nothing, and privnet_need_root skips each test.
static UNUSED int privnet_enter(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return 0;
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=755") < 0) {
		perror("private namespaces");
		return -1;
	}
	return 0;
}

// First line of each test.
static UNUSED void privnet_need_root(void)
{
	if (geteuid() != 0) {
		print_message("needs root for its own network namespaces\n");
		skip();
	}
}

static UNUSED struct rtnl *privnet_rtnl(int netns_fd)
{
	struct rtnl *rtnl = NULL;
	struct err err = ERR_INIT;
	int r = netns_fd < 0 ? rtnl_open(&rtnl, &err) : rtnl_open_in(netns_fd, &rtnl, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return rtnl;
}

static UNUSED int privnet_netns(const char *name)
{
	struct err err = ERR_INIT;
	int fd = netns_open_or_make(name, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	return fd;
}

static UNUSED struct link_info privnet_link(struct rtnl *rtnl, const char *name)
{
	struct link_info info = {0};
	struct err err = ERR_INIT;
	int r = link_get_by_name(rtnl, name, &info, &err);

	if (r != 0)
		fail_msg("%s: %d %s", name, r, err.text);
	return info;
}

// A veth pair a-b inside the namespace of rtnl; index of a.
static UNUSED uint32_t privnet_veth(struct rtnl *rtnl, const char *a, const char *b)
{
	struct link_veth v = {.name = a, .peer_name = b, .peer_netns_fd = -1};
	struct err err = ERR_INIT;
	int r = link_add_veth(rtnl, &v, &err);

	if (r != 0)
		fail_msg("%s-%s: %d %s", a, b, r, err.text);
	return privnet_link(rtnl, a).ifindex;
}

static UNUSED void privnet_up(struct rtnl *rtnl, const char *name)
{
	struct link_change c = {.ifindex = privnet_link(rtnl, name).ifindex, .up = 1, .noarp = -1};
	struct err err = ERR_INIT;

	if (link_set(rtnl, &c, &err) != 0)
		fail_msg("%s: %s", name, err.text);
}

static UNUSED void privnet_del(struct rtnl *rtnl, const char *name)
{
	assert_int_equal(link_del(rtnl, privnet_link(rtnl, name).ifindex, NULL), 0);
}
