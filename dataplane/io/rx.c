// SPDX-License-Identifier: Apache-2.0
#include "io/rx.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "io/rx_account.h"
#include "io/rx_lane.h"
#include "io/rx_priv.h"

#define HOUSEKEEPING_NS (100 * NS_PER_MS)
#define TRUST_NS (1 * NS_PER_MS)
#define UNSETTLED_NS (25 * NS_PER_MS) // while counts disagree with lanes that look empty

// The generation changed: nothing is known of this port yet.
static void start_port(struct rx *rx, struct rx_entry *e, rx_owner owner)
{
	lane_forget(rx, e);
	e->generation = rx_owner_generation(owner);
	e->stale = e->generation > 1;
	e->started_ns = rx->now_ns;
	e->dropped_seen = atomic_load_explicit(&e->dropped_base, memory_order_relaxed);
}

static bool is_before_mark(const struct rx *rx, enum rx_lane lane, const struct rx_entry *e)
{
	uint64_t taken = atomic_load_explicit(&rx->lanes[lane]->out, memory_order_relaxed) +
			 rx->lane_cost[lane];
	uint64_t until = atomic_load_explicit(&e->stale_until[lane], memory_order_relaxed);
	return (int64_t)(until - taken) > 0;
}

// Frames of an earlier port with the same index: with counts, those admitted before the port was
// added (a lane is a queue); without, those in the socket until it was once empty.
static bool is_stale(struct rx *rx, enum rx_lane lane, struct rx_entry *e)
{
	if (!rx->group->prog.map) {
		e->stale = rx->empty_ns[RX_LANE_EXPRESS] < e->started_ns;
		return e->stale;
	}
	e->stale = is_before_mark(rx, RX_LANE_EXPRESS, e) || is_before_mark(rx, RX_LANE_BULK, e);
	return e->stale && is_before_mark(rx, lane, e);
}

// The entry of the frame's port, or NULL where this worker has none.
static struct rx_entry *find(struct rx *rx, uint32_t ifindex, rx_owner *ret_owner)
{
	if (ifindex >= RX_IFINDEX_MAX)
		return NULL;
	struct rx_entry *e = &rx->group->entries[ifindex];
	rx_owner owner = atomic_load_explicit(&e->owner, memory_order_acquire);
	if (rx_owner_port(owner) == 0 || rx_owner_worker(owner) != rx->worker)
		return NULL;
	if (UNLIKELY(e->generation != rx_owner_generation(owner)))
		start_port(rx, e, owner);
	*ret_owner = owner;
	return e;
}

static void fill_pkt(struct pkt *p, const struct rx_frame *f, uint16_t port)
{
	p->data = f->data;
	p->len = f->len;
	p->flags = f->has_vlan ? PKT_F_VLAN : 0;
	p->in_port = port;
	p->vlan_tci = f->vlan_tci;
	p->vlan_tpid = f->vlan_tpid;
	memcpy(&p->vnet, f->data - VNET_HDR_LEN, VNET_HDR_LEN);
}

static bool drop(struct rx *rx, uint16_t port, enum drop_reason reason)
{
	counter_drop(rx->counters, port, reason, 1);
	return false;
}

// A frame that belongs to a port of this worker: true where it is handed out in *p.
static bool hand_out(struct rx *rx, struct rx_entry *e, uint16_t port, const struct rx_frame *f,
		     struct pkt *p)
{
	if (UNLIKELY(f->len < f->wire_len))
		return drop(rx, port, DROP_RX_TRUNCATED);
	account_hand_out(rx, e, f->len);
	fill_pkt(p, f, port);
	return true;
}

// Takes one frame of a lane; true: *p holds it.
static bool take(struct rx *rx, enum rx_lane lane, const struct rx_frame *f, struct pkt *p)
{
	rx_owner owner;
	bool lost = false;
	if (UNLIKELY(f->outgoing))
		return false;
	struct rx_entry *e = find(rx, f->ifindex, &owner);
	bool stale = e && UNLIKELY(e->stale) && is_stale(rx, lane, e);
	account_take(rx, lane, e, f->wire_len);
	if (!e || stale)
		return drop(rx, 0, DROP_RX_UNKNOWN_PORT);
	if (lane == RX_LANE_EXPRESS && lane_must_hold(rx, e, f, &lost))
		return lost ? drop(rx, rx_owner_port(owner), DROP_RX_HOLD_FULL) : false;
	return hand_out(rx, e, rx_owner_port(owner), f, p);
}

// By its counts nothing waits: a read would be a system call for nothing, and it would take the
// queue's lock from the senders. The counts are not trusted for longer than a while, nor over a
// sleep.
static bool is_express_idle(struct rx *rx)
{
	const struct rx_map_lane *lane = rx->lanes[RX_LANE_EXPRESS];
	if (!lane || rx->now_ns - rx->express_read_ns > TRUST_NS ||
	    atomic_load_explicit(&lane->in, memory_order_acquire) !=
		    atomic_load_explicit(&lane->out, memory_order_relaxed)) {
		rx->express_read_ns = rx->now_ns;
		return false;
	}
	return true;
}

static unsigned burst_express(struct rx *rx, struct pkt *pkts, unsigned max)
{
	struct rx_frame frames[PKT_BURST];
	unsigned lost = 0, taken = 0, n = 0;
	if (is_express_idle(rx))
		express_skip(rx->express);
	else
		n = express_read(rx->express, frames, max, &lost);
	for (unsigned i = 0; i < n; i++)
		taken += take(rx, RX_LANE_EXPRESS, &frames[i], &pkts[taken]);
	if (lost > 0)
		counter_drop(rx->counters, 0, DROP_VNET_BAD_GSO, lost);
	if (express_is_empty(rx->express)) {
		rx->empty_ns[RX_LANE_EXPRESS] = rx->now_ns;
	} else {
		rx->pressed = true;
	}
	lane_after_express(rx, n == max ? n : 0);
	account_publish(rx);
	return taken;
}

static unsigned burst_ring(struct rx *rx, struct pkt *pkts, unsigned max)
{
	struct rx_frame frames[PKT_BURST];
	unsigned taken = 0, n = ring_read(&rx->ring.ring, frames, max);
	for (unsigned i = 0; i < n; i++)
		taken += take(rx, RX_LANE_BULK, &frames[i], &pkts[taken]);
	rx->pressed = true;
	account_publish(rx);
	return taken;
}

// Frames that waited for their port's older ones; the port may be gone by now.
static unsigned burst_held(struct rx *rx, struct pkt *pkts, unsigned max)
{
	struct rx_frame frames[PKT_BURST];
	unsigned taken = 0, n = lane_take_held(rx, frames, max);
	for (unsigned i = 0; i < n; i++) {
		rx_owner owner = 0;
		struct rx_entry *e = find(rx, frames[i].ifindex, &owner);
		if (e && frames[i].generation == e->generation)
			taken += hand_out(rx, e, rx_owner_port(owner), &frames[i], &pkts[taken]);
		else
			drop(rx, 0, DROP_RX_UNKNOWN_PORT);
	}
	account_publish(rx);
	return taken;
}

// Express first, so that a quiet port waits for at most one burst of a busy one; half of the burst
// is kept for the ring while that holds frames, so that it moves on whatever express brings.
static unsigned burst_lanes(struct rx *rx, struct pkt *pkts, unsigned max)
{
	lane_settle(rx);
	if (UNLIKELY(rx->held_ready > 0))
		return burst_held(rx, pkts, max);
	lane_look_at_ring(rx);
	if (!rx->ring_has)
		rx->empty_ns[RX_LANE_BULK] = rx->now_ns;
	unsigned n = burst_express(rx, pkts, rx->ring_has && max > 1 ? max / 2 : max);
	if (lane_may_read_ring(rx))
		n += burst_ring(rx, pkts + n, max - n);
	return n;
}

static void housekeep(struct rx *rx)
{
	uint64_t interval = rx->snap_ns > 0 ? UNSETTLED_NS : HOUSEKEEPING_NS;
	if (rx->now_ns - rx->housekeeping_ns < interval)
		return;
	rx->housekeeping_ns = rx->now_ns;
	if (rx->pressed)
		account_drops(rx);
	rx->pressed = false;
	account_settle(rx);
}

unsigned rx_burst(struct rx *rx, struct pkt *pkts, unsigned max, uint64_t now_ns,
		  struct counters *c)
{
	rx->counters = c;
	rx->now_ns = now_ns;
	if (!rx->express)
		return 0;
	if (max > PKT_BURST)
		max = PKT_BURST;
	unsigned n = burst_lanes(rx, pkts, max);
	lane_tick(rx);
	housekeep(rx);
	return n;
}

void rx_release(struct rx *rx)
{
	if (rx_ring_is_ready(&rx->ring))
		ring_release(&rx->ring.ring);
}

static int shorter(int a_ms, int b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

// Drops of the last bursts are counted before a sleep that may be long.
static int limit_sleep(struct rx *rx, int timeout_ms)
{
	if (!rx->counters || !rx->express)
		return timeout_ms;
	if (rx->pressed)
		account_drops(rx);
	rx->pressed = false;
	account_settle(rx);
	if (!account_is_settled(rx))
		timeout_ms = shorter(timeout_ms, (int)(UNSETTLED_NS / NS_PER_MS));
	return shorter(timeout_ms, lane_sleep_ms(rx));
}

// poll leaves out negative descriptors.
void rx_wait(struct rx *rx, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = rx->event_fd, .events = POLLIN},
		{.fd = rx->express_fd, .events = POLLIN},
		{.fd = rx_ring_is_ready(&rx->ring) ? rx->ring.fd : -1, .events = POLLIN},
	};
	uint64_t count;
	int n = poll(fds, ARRAY_LEN(fds), limit_sleep(rx, timeout_ms));
	rx->express_read_ns = 0;
	if (n > 0 && fds[0].revents)
		(void)!read(rx->event_fd, &count, sizeof(count));
}

void rx_wake(struct rx *rx)
{
	uint64_t one = 1;
	(void)!write(rx->event_fd, &one, sizeof(one));
}
