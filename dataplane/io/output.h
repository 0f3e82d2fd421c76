// SPDX-License-Identifier: Apache-2.0
// Output stage: per (worker, port) buffers in front of port_ops.tx_burst, with a list of dirty
// ports.
//
// Order of frames to one port is kept. A flush costs what was filled, not the number of ports.
// Frames point into receive memory: output_flush must run before rx_release and before a sleep. One
// thread per struct.
#pragma once

#include "core/counters.h"
#include "core/port.h"
#include "packet/pkt.h"

struct output;

// For one worker. NULL when memory is short.
struct output *output_new(unsigned worker, struct counters *c);
void output_free(struct output *o);
// Queues a frame; sends the port's buffer when PKT_BURST are there. A port that is gone:
// tx-no-port.
void output_put(struct output *o, uint16_t port, uint8_t *data, uint32_t len,
		const struct vnet_hdr *vnet);
void output_flush(struct output *o);
// Frames queued now: 0 after a flush.
unsigned output_pending(const struct output *o);
