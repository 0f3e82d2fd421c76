// SPDX-License-Identifier: Apache-2.0
// Packet sockets: the options that weftd's receive and transmit sockets need. Control thread.
//
// Sockets are made in the calling thread's network namespace; psock_open_in makes one in another.
// Every function returns 0 (psock_open*: the descriptor) or -errno and names the option in err.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

// Raw packet socket with PACKET_VNET_HDR, not bound, receiving nothing.
int psock_open(struct err *err);
// The same inside netns_fd.
int psock_open_in(int netns_fd, struct err *err);
// Room for `bytes` of waiting frames, as the kernel counts them, past the sysctl limits.
int psock_set_rcvbuf(int fd, int bytes, struct err *err);
int psock_set_sndbuf(int fd, int bytes, struct err *err);
// VLAN tags that the kernel took out of the frame come as control messages.
int psock_set_auxdata(int fd, struct err *err);
// Refuses every frame until psock_attach replaces it: between bind and join a socket would get the
// frames that the group gets too.
int psock_refuse_all(int fd, struct err *err);
// Attaches an eBPF socket filter; replaces the one before in one step.
int psock_attach(int fd, int prog_fd, struct err *err);
// Receives frames of all protocols from all interfaces of the namespace. Without a group, frames
// that this host sends are left out (PACKET_IGNORE_OUTGOING).
int psock_bind_all(int fd, struct err *err);
// Receives frames of one interface, not those sent on it, and sends to it.
int psock_bind_one(int fd, uint32_t ifindex, struct err *err);
// Sends go to the driver without a queueing discipline. See docs/receive.md for why.
int psock_set_bypass(int fd, struct err *err);
// Binds for sending to one interface; receives nothing.
int psock_bind_tx(int fd, uint32_t ifindex, struct err *err);
// Joins a fanout group whose member is picked by an eBPF program. *group < 0: makes a new group and
// stores what later members pass.
int psock_join(int fd, int64_t *group, struct err *err);
// The program of the group that fd is in.
int psock_set_fanout_prog(int fd, int prog_fd, struct err *err);

// TPACKET_V3 ring of block_count blocks; `reserve` more bytes stand before each frame.
struct psock_ring_conf {
	uint32_t block_bytes, block_count;
	uint32_t retire_ms; // a block that is not full is handed over after so long
	uint32_t reserve;
};
int psock_make_ring(int fd, const struct psock_ring_conf *conf, void **ret_mem, struct err *err);
