// SPDX-License-Identifier: Apache-2.0
// The offload header in front of each frame of a packet socket, checked before anything is
// believed.
//
// Layout: struct virtio_net_hdr of linux/virtio_net.h, 10 bytes, host byte order (PACKET_VNET_HDR).
// It comes from the sender: a pod with CAP_NET_RAW can put any value the kernel lets through, so
// every field is validated against the parsed frame. Pure functions, any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "packet/drop.h"

#define VNET_HDR_LEN 10

struct vnet_hdr {
	uint8_t flags;                    // VNET_F_*
	uint8_t gso_type;                 // VNET_GSO_*, with VNET_GSO_ECN as a bit
	uint16_t hdr_len;                 // bytes; a hint about the linear part, never trusted
	uint16_t gso_size;                // payload bytes per segment
	uint16_t csum_start, csum_offset; // bytes from the Ethernet header; from csum_start
} __attribute__((packed));
_Static_assert(sizeof(struct vnet_hdr) == VNET_HDR_LEN, "virtio_net_hdr is 10 bytes");

enum { VNET_F_NEEDS_CSUM = 1, VNET_F_DATA_VALID = 2 };
enum {
	VNET_GSO_NONE = 0,
	VNET_GSO_TCPV4 = 1,
	VNET_GSO_UDP = 3,
	VNET_GSO_TCPV6 = 4,
	VNET_GSO_UDP_L4 = 5,
	VNET_GSO_ECN = 0x80
};

#define VNET_GSO_SIZE_MIN 256 // smallest TCP segment; real ones are never below 536 or 1220
#define VNET_GSO_SEGS_MAX 128 // most segments that one frame may stand for
