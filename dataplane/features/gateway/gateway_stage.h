// SPDX-License-Identifier: Apache-2.0
// The gateway's answers, per packet. Worker thread; neither logs, locks nor allocates.
#pragma once

#include "core/port.h"
#include "packet/build.h"
#include "packet/pkt.h"

// Writes the answer to an ARP, ND or local IP packet into out (BUILD_FRAME_MAX bytes). The guard
// has passed the packet. Returns the frame's length; 0: no answer, *ret_reason says why.
uint32_t gateway_answer(const struct pkt *p, uint8_t *out, enum drop_reason *ret_reason);
// Writes an ICMP error about p, sent by the gateway. 0: none may be sent (RFC 1122 3.2.2).
uint32_t gateway_error(const struct pkt *p, enum build_icmp kind, uint32_t mtu, uint8_t *out);
