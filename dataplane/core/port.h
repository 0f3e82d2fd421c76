// SPDX-License-Identifier: Apache-2.0
// Ports: where frames come from and leave by. Mechanism without policy.
//
// A port's id is its slot in the port table, 1..PORT_MAX-1 (0 = none). The control thread makes,
// changes and removes ports; workers read the table through port_get between two quiescent states
// (core/rcu.h). A removed port is freed by the control thread after a grace period. Fields marked
// (c) are written by the control thread before the port is published and never again; (a) are
// atomics.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ipaddr.h"
#include "packet/vnet.h"

#define PORT_MAX 1024 // ids; pods per node are at most 250, the rest is room for churn
#define PORT_WORKERS_MAX 4
#define PORT_ADDRS_MAX 8 // addresses of one pod that the guard accepts

enum port_kind { PORT_KIND_POD, PORT_KIND_HOST, PORT_KIND_UPLINK };

struct counters;
struct port;

// MAC that the far side of every port sees as its neighbour (the gateway); the same on every node.
extern const struct macaddr gateway_mac;

// A frame on its way out; valid until the burst ends. data has VNET_HDR_LEN writable bytes before
// it.
struct tx_frame {
	uint8_t *data;
	uint32_t len;
	struct vnet_hdr vnet; // as the receiving side shall see it
};

struct port_ops {
	// Sends n frames in order and returns how many were accepted. Those are counted in
	// tx_packets and tx_bytes here, every other one as a TX drop of this port. Neither blocks,
	// logs nor allocates. Worker thread.
	unsigned (*tx_burst)(struct port *port, unsigned worker, const struct tx_frame *frames,
			     unsigned n, struct counters *c);
	// Releases sockets and memory. Control thread, after the grace period.
	void (*close)(struct port *port);
};

struct port {
	uint16_t id;         // (c)
	enum port_kind kind; // (c)
	uint16_t worker;     // (c) owner of receive
	uint32_t ifindex;    // (c) in the private namespace; 0 for ports without a link
	char name[16];       // (c) link name of the host end
	struct macaddr mac;  // (c) what the other side of the link has: destination of frames
	uint32_t mtu;        // (c) bytes without the Ethernet header
	uint8_t addr_count;  // (c)
	struct ipaddr
		addrs[PORT_ADDRS_MAX]; // (c) the guard's source addresses; none = no guard (host)
	_Atomic bool active;           // (a) false: frames are dropped as port-not-active
	_Atomic bool link_gone;        // (a) tx saw ENXIO
	const struct port_ops *ops;    // (c)
	void *io;                      // (c) of the implementation behind ops
};

// Publishes a port (control thread). -EEXIST: id in use.
int port_publish(struct port *port);
// Unpublishes; the caller waits a grace period and then calls port_free.
struct port *port_unpublish(uint16_t id);
// Calls ops->close and frees. NULL is nothing.
void port_free(struct port *port);
// The port, or NULL. Workers: valid until their next quiescent state. Bounds are checked.
struct port *port_get(uint16_t id);
// Highest published id + 1, for loops of the control thread.
uint16_t port_limit(void);
