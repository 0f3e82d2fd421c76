// SPDX-License-Identifier: Apache-2.0
// A resolved decision: plain data that says all that happens to the packets of one exact flow.
//
// Copied into the cache entry, never shared, so it has no lifetime of its own; pointers in it are
// only followed while its generation is current (flow/emc.h) and what they name is freed after a
// grace period. Kept plain so that a later kernel offload can read it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/ipaddr.h"
#include "packet/drop.h"

struct flow; // flow/flow.h

#define RESOLVED_FLOWS 2 // flows that a decision rests on, for their packet counters

enum resolved_verdict {
	RESOLVED_FORWARD, // rewrite and send to out_port
	RESOLVED_DROP,    // drop with reason
	RESOLVED_REJECT,  // drop with reason, and tell the sender by an ICMP error
	RESOLVED_LOCAL,   // to the gateway itself: features/gateway answers
};

struct resolved {
	uint8_t verdict; // enum resolved_verdict
	uint8_t reason;  // enum drop_reason for DROP and REJECT
	uint8_t icmp;    // enum build_icmp for REJECT
	bool dec_ttl;    // forward as a router does
	uint16_t out_port;
	uint16_t flow_count;
	uint32_t mtu; // bytes, of the way out
	struct macaddr dst_mac, src_mac;
	struct flow *flows[RESOLVED_FLOWS];
};
