// SPDX-License-Identifier: Apache-2.0
// Link and address events of one namespace.
//
// Poll monitor_fd for POLLIN and call monitor_read. After a lost event (socket overrun) the
// callback gets MONITOR_RESYNC: the user must dump again. One thread.
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "netlink/link.h"

enum monitor_kind {
	MONITOR_LINK_NEW, // new or changed
	MONITOR_LINK_DEL,
	MONITOR_ADDR_NEW,
	MONITOR_ADDR_DEL,
	MONITOR_RESYNC,
};

struct monitor_event {
	enum monitor_kind kind;
	struct link_info link; // of LINK events
	struct link_addr addr; // of ADDR events
};

typedef void monitor_fn(const struct monitor_event *event, void *arg);

struct monitor;

// Opens in the namespace of netns_fd (-1: the calling thread's).
int monitor_open(int netns_fd, monitor_fn *fn, void *arg, struct monitor **ret_monitor,
		 struct err *err);
void monitor_close(struct monitor *m);
int monitor_fd(const struct monitor *m);
// Handles what is there, without waiting. 0 or -errno.
int monitor_read(struct monitor *m);
