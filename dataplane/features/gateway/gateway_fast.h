// SPDX-License-Identifier: Apache-2.0
// The gateway's address set, shared by its control and packet sides. The set is immutable once it
// is published; the control thread replaces it and frees the old one after a grace period.
#pragma once

#include "base/ipaddr.h"

#define GATEWAY_ADDRS_MAX 64 // besides the two link-local ones

struct gateway_set {
	unsigned count;
	struct ipaddr addrs[GATEWAY_ADDRS_MAX + 2]; // the two link-local ones come first
};

// Reader: valid until the worker's next quiescent state. Never NULL.
const struct gateway_set *gateway_set_get(void);
