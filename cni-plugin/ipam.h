// SPDX-License-Identifier: Apache-2.0
// Delegation of addresses to the plugin that `ipam.type` names, found in CNI_PATH. It gets our
// environment with CNI_COMMAND set to the verb, and our stdin byte for byte.
//
// All of it is nothing where the config has no ipam.type: ipam_is_used tells. Errors carry code
// 104, or 11 where the delegate itself said "try again"; its message stands in the text.
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "cni_args.h"
#include "cni_conf.h"
#include "cni_result.h"

struct ipam_lease {
	struct ip_list ips;
	struct jdoc *doc; // its result, owner of dns
	struct jval dns;  // absent: none
};

enum ipam_outcome { IPAM_UNSUPPORTED = 1 };

// True where the config names a delegate.
bool ipam_is_used(const struct cni_conf *conf);
// Delegate ADD. *ret_unsure (may not be NULL) is set where it failed without a proper answer, so
// that an address may have been taken: the caller then sends DEL.
int ipam_add(const struct cni_args *args, const struct cni_conf *conf, struct ipam_lease *ret_lease,
	     bool *ret_unsure, struct err *err);
void ipam_lease_fini(struct ipam_lease *lease);
// Delegate verb ("DEL", "CHECK", "STATUS", "GC") within timeout_ms. 0, IPAM_UNSUPPORTED where the
// delegate does not know STATUS or GC, or -errno.
int ipam_call(const struct cni_args *args, const struct cni_conf *conf, const char *verb,
	      unsigned timeout_ms, struct err *err);
