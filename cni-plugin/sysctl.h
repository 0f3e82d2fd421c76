// SPDX-License-Identifier: Apache-2.0
// IPv6 settings of a pod's interface, written inside the pod's network namespace.
#pragma once

#include <stdbool.h>

#include "base/err.h"

// No router advertisements and no duplicate address detection on ifname; with need_v6 IPv6 is
// also switched on for lo and ifname. A kernel without IPv6 is an error only with need_v6. A
// setting that cannot be written is fine where it has the wanted value already. 0 or -errno.
int sysctl_prepare(int netns_fd, const char *ifname, bool need_v6, struct err *err);
