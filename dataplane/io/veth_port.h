// SPDX-License-Identifier: Apache-2.0
// Transmit side of a veth's host end: one bound packet socket (protocol 0: receives nothing) per
// worker, sendmmsg with vnet_hdr from preallocated arrays.
//
// Errors, as the kernel reports them for one message of a batch (net/socket.c __sys_sendmmsg keeps
// no error of a partial send; the next call reports it for its first message): ENOBUFS on a veth is
// "peer down": the rest of the batch is dropped as tx-peer-down after one probe, without a retry
// loop. ENETDOWN tx-link-down, ENXIO/ENODEV tx-link-gone (link_gone is set), EMSGSIZE tx-too-big,
// EINVAL tx-bad-frame: that one frame. EAGAIN: one retry, then tx-queue-full. ENOSYS: sendmsg from
// then on.
#pragma once

#include "base/err.h"
#include "core/port.h"

// Opens the sockets inside netns_fd and sets port->ops and port->io; port->ifindex must be set. 0
// or -errno. Control thread.
int veth_port_open(struct port *port, int netns_fd, unsigned workers, struct err *err);
