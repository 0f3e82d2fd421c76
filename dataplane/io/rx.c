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
#include "io/rx_priv.h"

#define HOUSEKEEPING_NS (100 * NS_PER_MS)
#define UNSETTLED_NS (25 * NS_PER_MS) // while counts disagree with lanes that look empty

// The generation changed: nothing is known of this port yet.
static void start_port(struct rx *rx, uint32_t ifindex, struct rx_entry *e, rx_owner owner)
{
	struct rx_map *map = rx->group->prog.map;
	e->generation = rx_owner_generation(owner);
	e->stale = e->generation > 1;
	if (map)
		e->dropped_seen =
			atomic_load_explicit(&map->ports[ifindex].dropped, memory_order_relaxed);
}

// Frames of an earlier port with the same index: with counts, those admitted before the port was
// added; without, those in the socket until it was once empty.
static bool is_stale(struct rx *rx, uint32_t ifindex, struct rx_entry *e)
{
	struct rx_map *map = rx->group->prog.map;
	if (!map)
		return true;
	uint64_t taken = atomic_load_explicit(&map->ports[ifindex].out, memory_order_relaxed) +
			 e->burst_cost;
	uint64_t until = atomic_load_explicit(&e->stale_until, memory_order_relaxed);
	e->stale = (int64_t)(until - taken) > 0;
	return e->stale;
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
		start_port(rx, ifindex, e, owner);
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

// Takes one frame of a lane; true: *p holds it.
static bool take(struct rx *rx, enum rx_lane lane, const struct rx_frame *f, struct pkt *p)
{
	rx_owner owner;
	if (UNLIKELY(f->outgoing))
		return false;
	struct rx_entry *e = find(rx, f->ifindex, &owner);
	bool stale = e && UNLIKELY(e->stale) && is_stale(rx, f->ifindex, e);
	account_take(rx, lane, e, f->wire_len);
	if (!e || stale) {
		counter_drop(rx->counters, 0, DROP_RX_UNKNOWN_PORT, 1);
		return false;
	}
	if (UNLIKELY(f->len < f->wire_len)) {
		counter_drop(rx->counters, rx_owner_port(owner), DROP_RX_TRUNCATED, 1);
		return false;
	}
	account_hand_out(rx, e, f->len);
	fill_pkt(p, f, rx_owner_port(owner));
	return true;
}

static unsigned burst_express(struct rx *rx, struct pkt *pkts, unsigned max)
{
	struct rx_frame frames[PKT_BURST];
	unsigned lost = 0, taken = 0;
	unsigned n = express_read(rx->express, frames, max, &lost);
	for (unsigned i = 0; i < n; i++)
		taken += take(rx, RX_LANE_EXPRESS, &frames[i], &pkts[taken]);
	if (lost > 0)
		counter_drop(rx->counters, 0, DROP_VNET_BAD_GSO, lost);
	if (express_is_empty(rx->express))
		rx->empty_ns[RX_LANE_EXPRESS] = rx->now_ns;
	else
		rx->pressed = true;
	return taken;
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
	unsigned n = burst_express(rx, pkts, max);
	account_publish(rx);
	housekeep(rx);
	return n;
}

void rx_release(struct rx *rx)
{
	(void)rx;
}

// Drops of the last bursts are counted before a sleep that may be long.
static int limit_sleep(struct rx *rx, int timeout_ms)
{
	if (!rx->counters || !rx->express)
		return timeout_ms;
	if (rx->pressed)
		account_drops(rx);
	rx->pressed = false;
	if (account_is_settled(rx))
		return timeout_ms;
	account_settle(rx);
	int limit = (int)(UNSETTLED_NS / NS_PER_MS);
	return timeout_ms < 0 || timeout_ms > limit ? limit : timeout_ms;
}

void rx_wait(struct rx *rx, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = rx->event_fd, .events = POLLIN},
		{.fd = rx->express_fd, .events = POLLIN},
	};
	uint64_t count;
	int n = poll(fds, ARRAY_LEN(fds), limit_sleep(rx, timeout_ms));
	if (n > 0 && fds[0].revents)
		(void)!read(rx->event_fd, &count, sizeof(count));
}

void rx_wake(struct rx *rx)
{
	uint64_t one = 1;
	(void)!write(rx->event_fd, &one, sizeof(one));
}
