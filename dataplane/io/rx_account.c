// SPDX-License-Identifier: Apache-2.0
#include "io/rx_account.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include "base/clock.h"

// A frame is in its lane, or was dropped, so long after it was counted: a copy into a ring block
// that is handed over by a 1 ms timer, which kernels before 6.18 run in ticks of up to 10 ms.
#define SETTLE_NS (20 * NS_PER_MS)

static uint64_t get(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void touch(struct rx *rx, struct rx_entry *entry)
{
	if (entry->touched)
		return;
	if (rx->touched_count == ARRAY_LEN(rx->touched))
		account_publish(rx);
	entry->touched = true;
	rx->touched[rx->touched_count++] = (uint16_t)(entry - rx->group->entries);
}

void account_take(struct rx *rx, enum rx_lane lane, struct rx_entry *entry, uint32_t wire_len)
{
	uint32_t cost = wire_len + (lane == RX_LANE_BULK ? RX_COST_BULK : RX_COST_EXPRESS);
	rx->lane_cost[lane] += cost;
	if (!entry)
		return;
	touch(rx, entry);
	entry->burst_cost += cost;
}

void account_hand_out(struct rx *rx, struct rx_entry *entry, uint32_t len)
{
	touch(rx, entry);
	entry->burst_packets++;
	entry->burst_bytes += len;
}

static void publish_port(struct rx *rx, uint32_t ifindex)
{
	struct rx_entry *e = &rx->group->entries[ifindex];
	rx_owner owner = atomic_load_explicit(&e->owner, memory_order_relaxed);
	struct port_counters *pc = &rx->counters->port[rx_owner_port(owner)];
	struct rx_map *map = rx->group->prog.map;

	counter_add(&pc->rx_packets, e->burst_packets);
	counter_add(&pc->rx_bytes, e->burst_bytes);
	if (map)
		counter_add(&map->ports[ifindex].out, e->burst_cost);
	e->window_packets += e->burst_packets;
	e->burst_packets = e->burst_bytes = e->burst_cost = 0;
	e->touched = false;
}

void account_publish(struct rx *rx)
{
	struct rx_map *map = rx->group->prog.map;
	for (unsigned i = 0; i < rx->touched_count; i++)
		publish_port(rx, rx->touched[i]);
	rx->touched_count = 0;
	for (unsigned lane = 0; lane < 2; lane++) {
		if (map && rx->lane_cost[lane] > 0)
			counter_add(&rx->lanes[lane]->out, rx->lane_cost[lane]);
		rx->lane_cost[lane] = 0;
	}
}

static void fold_port(struct rx *rx, uint32_t ifindex, struct rx_entry *e)
{
	rx_owner owner = atomic_load_explicit(&e->owner, memory_order_acquire);
	uint64_t dropped = get(&rx->group->prog.map->ports[ifindex].dropped);
	if (rx_owner_worker(owner) != rx->worker || rx_owner_generation(owner) != e->generation ||
	    dropped == e->dropped_seen)
		return;
	counter_drop(rx->counters, rx_owner_port(owner), DROP_RX_QUEUE_FULL,
		     dropped - e->dropped_seen);
	e->dropped_seen = dropped;
}

// Ports may come and go meanwhile; a bit seen late is seen at the next call.
static void foreach_port(struct rx *rx, void (*fn)(struct rx *, uint32_t, struct rx_entry *))
{
	for (unsigned w = 0; w < ARRAY_LEN(rx->group->active); w++) {
		uint64_t bits = get(&rx->group->active[w]);
		for (; bits; bits &= bits - 1) {
			uint32_t ifindex = w * 64 + (unsigned)__builtin_ctzll(bits);
			fn(rx, ifindex, &rx->group->entries[ifindex]);
		}
	}
}

static void fold_unknown(struct rx *rx, enum rx_lane lane)
{
	uint64_t unknown = get(&rx->lanes[lane]->unknown);
	counter_drop(rx->counters, 0, DROP_RX_UNKNOWN_PORT, unknown - rx->unknown_seen[lane]);
	rx->unknown_seen[lane] = unknown;
}

// Clear-on-read counts of a socket: what the kernel had no room for after it was admitted.
static void fold_socket(struct rx *rx, int fd, enum drop_reason reason)
{
	struct tpacket_stats_v3 stats = {0};
	socklen_t size = sizeof(stats);
	if (fd < 0 || getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) < 0)
		return;
	if (stats.tp_drops > 0)
		counter_drop(rx->counters, 0, reason, stats.tp_drops);
}

void account_drops(struct rx *rx)
{
	fold_socket(rx, rx->express_fd, DROP_RX_SOCKET_FULL);
	if (!rx->group->prog.map)
		return;
	if (rx_ring_is_ready(&rx->ring))
		fold_socket(rx, rx->ring.fd, DROP_RX_RING_FULL);
	foreach_port(rx, fold_port);
	for (unsigned lane = 0; lane < 2; lane++)
		fold_unknown(rx, lane);
}

static void snap_port(struct rx *rx, uint32_t ifindex, struct rx_entry *e)
{
	e->snap_in = get(&rx->group->prog.map->ports[ifindex].in);
}

static void settle(_Atomic uint64_t *out, uint64_t in)
{
	if ((int64_t)(in - get(out)) > 0)
		atomic_store_explicit(out, in, memory_order_relaxed);
}

static void settle_port(struct rx *rx, uint32_t ifindex, struct rx_entry *e)
{
	rx_owner owner = atomic_load_explicit(&e->owner, memory_order_acquire);
	if (rx_owner_worker(owner) == rx->worker)
		settle(&rx->group->prog.map->ports[ifindex].out, e->snap_in);
}

bool account_is_settled(const struct rx *rx)
{
	if (!rx->group->prog.map)
		return true;
	return get(&rx->lanes[0]->in) == get(&rx->lanes[0]->out) &&
	       get(&rx->lanes[1]->in) == get(&rx->lanes[1]->out);
}

void account_settle(struct rx *rx)
{
	if (account_is_settled(rx)) {
		rx->snap_ns = 0;
		return;
	}
	if (rx->snap_ns > 0) {
		for (unsigned lane = 0; lane < 2; lane++)
			if (rx->empty_ns[lane] < rx->snap_ns + SETTLE_NS)
				return;
		foreach_port(rx, settle_port);
		for (unsigned lane = 0; lane < 2; lane++)
			settle(&rx->lanes[lane]->out, rx->snap_in[lane]);
	}
	rx->snap_ns = rx->now_ns;
	for (unsigned lane = 0; lane < 2; lane++)
		rx->snap_in[lane] = get(&rx->lanes[lane]->in);
	foreach_port(rx, snap_port);
}
