// SPDX-License-Identifier: Apache-2.0
// The CNI_* environment of one call.
//
//	_cleanup_(cni_args_fini) struct cni_args args = {0};
//	r = cni_args_read(&args, CNI_NEEDS_ATTACHMENT | CNI_NEEDS_NETNS, err);
//
// Strings point into the environment or into a copy that the struct owns. Errors carry code 4.
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/ipaddr.h"
#include "cni_result.h"

// Which variables a verb cannot do without.
enum cni_needs {
	CNI_NEEDS_ATTACHMENT = 1, // CNI_CONTAINERID and CNI_IFNAME
	CNI_NEEDS_NETNS = 2,
	CNI_NEEDS_PATH = 4,
	CNI_NEEDS_ARGS = 8, // CNI_ARGS must be well-formed where it is given
};

struct cni_args {
	const char *container_id; // "" where the verb has none
	const char *ifname;       // ""
	const char *netns;        // "" = none
	const char *path;         // ""
	bool netns_override;      // CNI_NETNS_OVERRIDE=1: our own namespace may be the pod's
	const char *pod_namespace, *pod_name, *pod_uid; // K8S_* of CNI_ARGS, NULL = not given
	struct ip_list ips;       // IP= of CNI_ARGS
	bool has_mac;
	struct macaddr mac;       // MAC= of CNI_ARGS
	char *copy;               // owns what CNI_ARGS was cut into
};

// Reads and checks the variables; needs is a set of enum cni_needs. All missing ones are named in
// one error. 0 or -errno.
int cni_args_read(struct cni_args *args, unsigned needs, struct err *err);
void cni_args_fini(struct cni_args *args);
// The rule for container ids and network names: a letter or digit, then those and "_.-".
bool cni_args_is_id(const char *text);
// Adds the addresses of a comma separated text, each with or without "/LEN", as host addresses.
// 0, -EINVAL for an address that no pod can have, -E2BIG beyond CNI_IPS_MAX.
int cni_args_add_ips(struct ip_list *ips, const char *text);
// A MAC address that an interface can have. 0 or -EINVAL.
int cni_args_parse_mac(const char *text, struct macaddr *ret_mac);
