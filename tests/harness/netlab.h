// SPDX-License-Identifier: Apache-2.0
// Real veth pairs for one test process: host ends in one fresh network namespace, pod ends in
// another.
//
// The calling thread stays in the host ends' namespace. Namespaces have no names and end with the
// process. IPv6 is off, so that no frame is seen that the test did not send. One thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct netlab {
	int host_fd, pod_fd; // namespaces
	struct rtnl *host, *pod;
};

struct netlab_veth {
	uint32_t ifindex;     // of the host end
	uint32_t pod_ifindex; // of the pod end
	int pod_sock;         // packet socket with vnet_hdr on the pod end, both directions
};

// 0, or -errno (-EPERM without root).
int netlab_start(struct netlab *lab);
void netlab_stop(struct netlab *lab);
// Veth "h<number>" and "p<number>", both up; ifindex 0 = the kernel chooses.
int netlab_add(struct netlab *lab, unsigned number, uint32_t ifindex, struct netlab_veth *ret);
// Deletes the pair and closes the socket.
void netlab_del(struct netlab *lab, struct netlab_veth *v);
int netlab_set_up(struct netlab *lab, const struct netlab_veth *v, bool pod_end, bool up);
// Raw test frame: type 0x88b5 (local experimental), 32-bit number, filled up to len with a pattern.
void netlab_frame(uint8_t *frame, uint32_t len, uint32_t number);
uint32_t netlab_number(const uint8_t *frame);
// Sends from the pod end; vnet may be NULL. The kernel delivers before the call returns. 0 or
// -errno.
int netlab_send(const struct netlab_veth *v, const uint8_t *frame, uint32_t len, const void *vnet);
// A socket keeps ENETDOWN from the time its link was down: the next call would fail.
void netlab_forget_error(const struct netlab_veth *v);
// Waits up to 2 s for a frame at the pod end; its length with vnet_hdr (10 bytes) in front, or
// -errno.
int netlab_recv(const struct netlab_veth *v, uint8_t *buf, uint32_t size);
