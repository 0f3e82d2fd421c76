// SPDX-License-Identifier: Apache-2.0
// Sending side of a veth port, called per burst. See veth_port.h for the contract.
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "core/counters.h"
#include "core/port.h"
#include "packet/pkt.h"

// Of one worker; filled in by veth_port.c.
struct veth_tx {
	int fd;
	bool single; // the kernel has no sendmmsg
	struct mmsghdr msgs[PKT_BURST];
	struct iovec iov[PKT_BURST];
};

struct veth_io {
	unsigned workers;
	struct veth_tx tx[]; // by worker
};

// port_ops.tx_burst of a veth port.
unsigned veth_tx_burst(struct port *port, unsigned worker, const struct tx_frame *frames,
		       unsigned n, struct counters *c);
// The link has no carrier: the other end is down. Asked once per burst that met ENOBUFS.
bool veth_port_is_peer_down(const struct port *port, const struct veth_tx *tx);
