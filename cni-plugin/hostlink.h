// SPDX-License-Identifier: Apache-2.0
// The host end of a pod's veth in weftd's private namespace, as DEL removes it when weftd cannot.
#pragma once

#include <stdbool.h>

#include "attachment.h"
#include "base/err.h"

enum hostlink_outcome { HOSTLINK_NOT_FOUND = 1 };

// Removes the attachment's host end (and so the pod's end) in /run/netns/NETNS_NAME. It is known
// by its alias; one that has none yet, because the ADD died early, by its name. Another
// attachment's link is never touched. thorough: looks through all links, for the rare one whose
// name was salted. HOSTLINK_NOT_FOUND also where the namespace is missing. 0 or -errno.
int hostlink_remove(const char *netns_name, const struct attachment *a, bool thorough,
		    struct err *err);
