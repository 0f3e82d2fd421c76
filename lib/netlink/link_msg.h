// SPDX-License-Identifier: Apache-2.0
// Decoding of link, address and route messages, shared by the requests and the monitor. The bytes
// may be anything. For lib/netlink only.
#pragma once

#include <linux/netlink.h>

#include "netlink/link.h"

// Outcome of a decoder, besides 0 and -EBADMSG.
enum link_msg_outcome { LINK_MSG_SKIP = 1 }; // well-formed, but of no interest here

// RTM_NEWLINK and RTM_DELLINK. *ret_ is untouched unless 0 is returned, in all three.
int link_info_decode(const struct nlmsghdr *h, struct link_info *ret_info);
// RTM_NEWADDR and RTM_DELADDR, both families.
int link_addr_decode(const struct nlmsghdr *h, struct link_addr *ret_addr);
// RTM_NEWROUTE and RTM_DELROUTE; all but unicast routes of both families are skipped.
int link_route_decode(const struct nlmsghdr *h, struct link_route *ret_route);
