// SPDX-License-Identifier: Apache-2.0
// UDP segmentation on the pod's veth. Packet sockets of kernels before 6.2 cannot pass such
// frames on, so that there it must be off.
#pragma once

#include <stdbool.h>

#include "base/err.h"

// True on a kernel whose packet sockets lose UDP segmentation frames. The running kernel's
// release decides.
bool udpseg_is_lossy(void);
// The same for a release text such as "6.1.0-18-amd64"; a text that is no release counts as
// lossy.
bool udpseg_is_lossy_release(const char *release);
// Switches tx-udp-segmentation off on ifname in the namespace. 0 also where there is no such
// feature.
int udpseg_disable(int netns_fd, const char *ifname, struct err *err);
