// SPDX-License-Identifier: Apache-2.0
// A node in one process for packet tests: two pods, the host port, all tables, one pipeline, memory
// ports.
//
// pod A port 1: 10.244.1.10 fd00:10:1::a   MAC 02:00:00:00:01:0a
// pod B port 2: 10.244.1.11 fd00:10:1::b   MAC 02:00:00:00:01:0b
// host  port 3: 192.0.2.11  fd00:c0::11    MAC 02:00:00:00:00:0f
// ranges 10.244.1.0/24 and fd00:10:1::/64, gateways 10.244.1.1 and fd00:10:1::1
#pragma once

#include "core/counters.h"
#include "io/mem_port.h"
#include "main/pipeline.h"
#include "packet/drop.h"

enum { WORLD_POD_A = 1, WORLD_POD_B = 2, WORLD_HOST = 3 };

struct world {
	struct pipeline *pl;
	struct counters *c;
	struct rte_mempool *pool;
	struct port *port[4]; // by id
	uint64_t now_ns;
};

extern const struct macaddr world_mac_a, world_mac_b, world_mac_host;

// Sets the process-wide tables up; once per process (starts EAL). 0 or a negative number.
int world_start(struct world *w);
void world_stop(struct world *w);
// Runs one frame (copied) that came in by port, with an offload header or NULL. Flushes.
void world_send(struct world *w, uint16_t port, const uint8_t *frame, uint32_t len,
		const struct vnet_hdr *vnet);
// Oldest frame that left by port; the caller frees it. NULL: none.
struct mem_frame *world_take(struct world *w, uint16_t port);
// Drops of one reason on one port since the start.
uint64_t world_drops(const struct world *w, uint16_t port, enum drop_reason reason);
// Sum of all drops of all ports.
uint64_t world_drops_all(const struct world *w);
