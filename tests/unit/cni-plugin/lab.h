// SPDX-License-Identifier: Apache-2.0
// Two network namespaces for one test: the pod's and weftd's private one. The process moves into a
// mount namespace of its own with an empty /run/netns, and into a third network namespace.
//
//	cmocka_unit_test_setup_teardown(test, lab_setup, lab_teardown)
//	struct lab *lab = lab_get(state);      skips the test where there is no root
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "netlink/link.h"
#include "netlink/netns.h"

struct lab {
	int pod_fd, host_fd;
	struct rtnl *pod, *host;
	char pod_path[64]; // names pod_fd
};

#define LAB_NETNS "wlab" // name of the private namespace

static inline int lab_setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	*state = NULL;
	if (!lab)
		return -1;
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0) {
		free(lab);
		return errno == EPERM ? 0 : -1;
	}
	mkdir("/run/netns", 0755);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run/netns", "tmpfs", 0, NULL) < 0)
		return -1;
	lab->host_fd = netns_open_or_make(LAB_NETNS, NULL);
	lab->pod_fd = netns_open_or_make("pod", NULL);
	snprintf(lab->pod_path, sizeof(lab->pod_path), "/run/netns/pod");
	if (lab->host_fd < 0 || lab->pod_fd < 0 ||
	    rtnl_open_in(lab->host_fd, &lab->host, NULL) < 0 ||
	    rtnl_open_in(lab->pod_fd, &lab->pod, NULL) < 0)
		return -1;
	*state = lab;
	return 0;
}

static inline int lab_teardown(void **state)
{
	struct lab *lab = *state;

	if (!lab)
		return 0;
	rtnl_close(lab->host);
	rtnl_close(lab->pod);
	close(lab->host_fd);
	close(lab->pod_fd);
	free(lab);
	return 0;
}

static inline struct lab *lab_get(void **state)
{
	if (!*state) {
		print_message("needs root\n");
		skip();
	}
	return *state;
}

// True where the namespace of rtnl has a link of that name.
static inline bool lab_has(struct rtnl *rtnl, const char *name)
{
	struct link_info info;

	return link_get_by_name(rtnl, name, &info, NULL) == 0;
}
