// SPDX-License-Identifier: Apache-2.0
// Pods on the socket: the op of `apply`. Control thread.
#pragma once

#include "base/err.h"
#include "features/pod/pod.h"
#include "json/jget.h"

// Decodes {"namespace","name","uid","host_network","phase","ips","labels","node"} of a set op into
// a new pod of the caller's. Labels are checked; nothing here needs them yet. 0 or -errno.
int pod_api_decode(const struct jval *op, struct pod **ret_pod, struct err *err);
