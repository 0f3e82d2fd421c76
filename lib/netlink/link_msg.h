// SPDX-License-Identifier: Apache-2.0
// Decoding of link, address and route messages, shared by the requests and the monitor. The bytes may be
// anything. For lib/netlink only.
#pragma once

#include <linux/netlink.h>

#include "netlink/link.h"

// Outcome of a decoder, besides 0 and -EBADMSG.
enum link_msg_outcome { LINK_MSG_SKIP = 1 }; // well-formed, but of no interest here

int link_info_decode(const struct nlmsghdr *h, struct link_info *ret_info);
int link_addr_decode(const struct nlmsghdr *h, struct link_addr *ret_addr);
int link_route_decode(const struct nlmsghdr *h, struct link_route *ret_route);
