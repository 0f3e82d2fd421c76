// SPDX-License-Identifier: Apache-2.0
// Receive of all ports of the private namespace: two lanes, one fanout group.
//
// Per worker an express lane (packet socket read by recvmmsg) and a bulk lane (TPACKET_V3 ring),
// all bound to no interface and members of one PACKET_FANOUT group; an eBPF program picks the
// member from an mmapped array indexed by ifindex. A second small program on each member counts
// what is queued per port and drops beyond the port's share, so that a flood costs its sender, not
// the others. The bulk lane's ring is made when the first port needs it and taken down after it was
// idle (a V3 ring's timer costs 1 % of a core on Linux >= 6.18).
//
// Threads: the control thread opens, adds and removes ports and runs rx_group_service; worker w
// alone calls the functions that take its struct rx. Nothing points into a ring after rx_release.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/counters.h"
#include "packet/pkt.h"

#define RX_IFINDEX_MAX 4096 // host ends get indexes below this (weftd chooses them at attach)

enum rx_mode { RX_MODE_AUTO, RX_MODE_LANES, RX_MODE_MMSG };
enum rx_lane { RX_LANE_EXPRESS, RX_LANE_BULK };

struct rx_group;
struct rx;

struct rx_conf {
	int netns_fd; // private namespace; borrowed during the call
	unsigned workers;
	enum rx_mode mode; // LANES: fail where it cannot be had; AUTO: fall back to MMSG
};

// Opens sockets, maps and programs. 0 or -errno. AUTO never fails for lack of eBPF. Without lanes
// worker 0 receives for all ports whatever rx_port_add says, in one queue without shares.
int rx_group_open(const struct rx_conf *conf, struct rx_group **ret_group, struct err *err);
// Workers must have stopped. NULL is nothing.
void rx_group_close(struct rx_group *g);
// What runs, and why not lanes ("" when lanes run). Shown by status.
enum rx_mode rx_group_mode(const struct rx_group *g);
const char *rx_group_fallback_reason(const struct rx_group *g);
// Receive side of one worker, NULL beyond the last.
struct rx *rx_group_worker(struct rx_group *g, unsigned worker);
// Starts and stops handing out frames of an interface. After del, frames still queued come out as
// rx-unknown-port drops, also where the index gets another port at once. -ERANGE: ifindex or
// port_id out of bounds; -EEXIST: the index has a port; -EINVAL: no such worker.
int rx_port_add(struct rx_group *g, uint32_t ifindex, uint16_t port_id, unsigned worker);
void rx_port_del(struct rx_group *g, uint32_t ifindex);
// Lane that the port's frames take now. Any thread.
enum rx_lane rx_port_lane(const struct rx_group *g, uint32_t ifindex);
// Readable when a worker asks for rx_group_service (a ring wanted); the control thread polls it.
int rx_group_event_fd(const struct rx_group *g);
// Makes or takes down rings. Needed only when rx_group_event_fd is readable; harmless at any time.
// Drops of the kernel are read by the workers, who alone write their counters.
void rx_group_service(struct rx_group *g, uint64_t now_ns);

// Next batch: up to max (<= PKT_BURST) frames with data, len, in_port, flags, vnet and vlan set. 0:
// nothing there. Counts rx_packets and rx_bytes of the frames handed out; what is dropped before
// that (DROP_RX_*, frames cut by the kernel included) is counted by reason only. now_ns: of the
// caller's loop.
unsigned rx_burst(struct rx *rx, struct pkt *pkts, unsigned max, uint64_t now_ns,
		  struct counters *c);
// The frames of the last burst are no longer needed.
void rx_release(struct rx *rx);
// Sleeps until a frame, rx_wake or the timeout (-1 = for ever).
void rx_wait(struct rx *rx, int timeout_ms);
// Ends a sleep from any thread.
void rx_wake(struct rx *rx);
