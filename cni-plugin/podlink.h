// SPDX-License-Identifier: Apache-2.0
// The pod's side of the link: veth, sysctls, addresses, routes, neighbours, all inside the pod's
// network namespace. The other end is made by the same request in weftd's private namespace.
//
//	_cleanup_(podlink_fini) struct podlink link = PODLINK_INIT;
//	r = podlink_open(&link, netns_path, ifname, override, err);   code 8
//	r = podlink_require_free(&link, err);                         code 101
//	r = podlink_make(&link, &grant, err);                         PODLINK_TAKEN: ask again
//	r = podlink_setup(&link, &grant, err);                        code 102
//
// Borrows ifname. One thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "daemon.h"
#include "netlink/link.h"
#include "netlink/rtnl.h"

struct podlink {
	int netns_fd;
	struct rtnl *rtnl; // inside that namespace
	const char *ifname;
	uint32_t ifindex; // 0 until the link is made
};

#define PODLINK_INIT ((struct podlink){.netns_fd = -1})

enum podlink_outcome { PODLINK_TAKEN = 1 };

// Opens the namespace. Code 8 where it is missing, is none, or is our own (unless override).
int podlink_open(struct podlink *link, const char *netns_path, const char *ifname, bool override,
		 struct err *err);
void podlink_fini(struct podlink *link);
// Code 101 where the pod has an interface of that name, code 4 where none can have it.
int podlink_require_free(struct podlink *link, struct err *err);
// Makes the pair. PODLINK_TAKEN where the name or the index of the host end is in use; nothing is
// made then. 0 or -errno.
int podlink_make(struct podlink *link, const struct daemon_grant *grant, struct err *err);
// Sysctls, addresses, up, routes, permanent neighbours. 0 or -errno with code 102.
int podlink_setup(struct podlink *link, const struct daemon_grant *grant, struct err *err);
// After weftd opened the port: waits (a fraction of a second at most) until the kernel lets the
// link send, so that the pod's first packet is not lost.
void podlink_wait_running(struct podlink *link);
// Removes the pair that podlink_make made. 0 or -errno.
int podlink_remove(struct podlink *link, struct err *err);
