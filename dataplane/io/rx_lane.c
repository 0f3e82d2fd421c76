// SPDX-License-Identifier: Apache-2.0
#include "io/rx_lane.h"

#include "base/clock.h"
#include "base/compiler.h"

// Up: so many full reads in a row, with a share of them from one port, of frames that are small.
#define UP_READS 4
#define UP_SHARE 6 // 1/6
#define UP_FRAME_BYTES 2048
// Down: less than so many frames per ms in so many windows in a row, so that a sender or this
// worker that lost its processor for a moment does not count as quiet.
#define WINDOW_NS (4 * NS_PER_MS)
#define DOWN_PER_MS 100
#define DOWN_WINDOWS 5
// A sender that looked up the old lane has put its frame there after so long.
#define RISE_NS (20 * NS_PER_MS)
// The open block is handed over by its timer: 1 ms, or a tick of up to 10 ms before Linux 6.18.
#define FALL_NS (10 * NS_PER_MS)
#define RING_IDLE_NS (5 * NS_PER_SEC)

static uint32_t index_of(const struct rx *rx, const struct rx_entry *e)
{
	return (uint32_t)(e - rx->group->entries);
}

// The next frame's look-up sees the new member; the fence keeps what is read of the lanes
// afterwards from being older than this store.
static void send_to(struct rx *rx, struct rx_entry *e, uint32_t member)
{
	atomic_store_explicit(&rx->group->prog.map->ports[index_of(rx, e)].member, member,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

static bool is_mine(const struct rx *rx, const struct rx_entry *e)
{
	rx_owner owner = atomic_load_explicit(&e->owner, memory_order_acquire);
	return rx_owner_port(owner) != 0 && rx_owner_worker(owner) == rx->worker &&
	       rx_owner_generation(owner) == e->generation;
}

static void rise(struct rx *rx, struct rx_entry *e)
{
	if (rx->moved_count == ARRAY_LEN(rx->moved) || !rx_ring_want(rx))
		return;
	rx->moved[rx->moved_count++] = (uint16_t)index_of(rx, e);
	e->lane = RX_STATE_RISING;
	e->moved_ns = rx->now_ns;
	e->window_packets = 0;
	e->low_windows = 0;
	rx->rising++;
	send_to(rx, e, rx->ring.member);
}

static void add_to_streak(const struct rx *rx, struct rx_entry *e)
{
	if (e->streak != rx->streak) {
		e->streak = rx->streak;
		e->streak_packets = 0;
		e->streak_bytes = 0;
	}
	e->streak_packets += e->burst_packets;
	e->streak_bytes += e->burst_bytes;
}

static bool is_bulk_sender(const struct rx *rx, const struct rx_entry *e)
{
	return e->lane == RX_STATE_EXPRESS && e->streak_packets >= rx->streak_frames / UP_SHARE &&
	       e->streak_bytes < (uint64_t)e->streak_packets * UP_FRAME_BYTES;
}

void lane_after_express(struct rx *rx, unsigned full)
{
	if (full == 0) {
		rx->streak_reads = rx->streak_frames = 0;
		return;
	}
	if (rx->streak_reads++ == 0)
		rx->streak++;
	rx->streak_frames += full;
	for (unsigned i = 0; i < rx->touched_count; i++) {
		struct rx_entry *e = &rx->group->entries[rx->touched[i]];
		add_to_streak(rx, e);
		if (rx->streak_reads >= UP_READS && is_bulk_sender(rx, e))
			rise(rx, e);
	}
}

// What the open block is now: a frame that precedes the first held one may have gone into a block
// that was opened after the port began to fall.
static void mark_open_block(struct rx *rx, struct rx_entry *e)
{
	e->fall_position = ring_open_position(&rx->ring.ring);
}

static void fall(struct rx *rx, struct rx_entry *e)
{
	e->lane = RX_STATE_FALLING;
	e->moved_ns = rx->now_ns;
	e->held = 0;
	rx->falling++;
	send_to(rx, e, rx->worker);
	mark_open_block(rx, e);
}

bool lane_must_hold(struct rx *rx, struct rx_entry *e, const struct rx_frame *f, bool *ret_lost)
{
	if (LIKELY(e->lane != RX_STATE_FALLING))
		return false;
	if (e->held == 0)
		mark_open_block(rx, e);
	struct rx_frame copy = *f;
	copy.generation = e->generation;
	*ret_lost = !hold_put(rx->hold, &copy);
	e->held += !*ret_lost;
	return true;
}

static bool is_through(const struct rx *rx, const struct rx_entry *e)
{
	const struct ring_rx *r = &rx->ring.ring;
	if (ring_position(r) > e->fall_position || ring_is_drained(r))
		return true;
	// A backlog is read first, however long that takes; only the open block has a time limit.
	return !ring_is_ready(r) && rx->now_ns - e->moved_ns > FALL_NS;
}

static void forget(struct rx *rx, unsigned i)
{
	rx->moved[i] = rx->moved[--rx->moved_count];
	if (rx->moved_count == 0)
		rx->ring.idle_ns = rx->now_ns;
}

// Frames that were held go out now, or as drops where the port is gone.
static void leave_state(struct rx *rx, struct rx_entry *e)
{
	rx->rising -= e->lane == RX_STATE_RISING;
	rx->falling -= e->lane == RX_STATE_FALLING;
	rx->held_ready += e->held;
	e->held = 0;
	e->lane = RX_STATE_EXPRESS;
}

void lane_forget(struct rx *rx, struct rx_entry *e)
{
	leave_state(rx, e);
	e->streak_packets = 0;
	e->streak_bytes = 0;
	for (unsigned i = rx->moved_count; i-- > 0;)
		if (rx->moved[i] == index_of(rx, e))
			forget(rx, i);
}

void lane_settle(struct rx *rx)
{
	if (LIKELY(rx->falling == 0))
		return;
	for (unsigned i = rx->moved_count; i-- > 0;) {
		struct rx_entry *e = &rx->group->entries[rx->moved[i]];
		if (e->lane != RX_STATE_FALLING || !is_through(rx, e))
			continue;
		leave_state(rx, e);
		forget(rx, i);
	}
}

static bool may_go(void *arg, uint32_t ifindex)
{
	struct rx *rx = arg;
	return rx->group->entries[ifindex].lane != RX_STATE_FALLING;
}

unsigned lane_take_held(struct rx *rx, struct rx_frame *frames, unsigned max)
{
	unsigned n = hold_take(rx->hold, may_go, rx, frames, max);
	rx->held_ready = n < max ? 0 : rx->held_ready - (n < rx->held_ready ? n : rx->held_ready);
	return n;
}

// With a rising port, what is in express when a block is seen was put there before anything in it
// by the same sender. The lane's counts name that moment: it is reached when so much was taken.
void lane_look_at_ring(struct rx *rx)
{
	const struct ring_rx *r = &rx->ring.ring;
	rx->ring_has = rx_ring_is_ready(&rx->ring) && ring_is_ready(r);
	if (LIKELY(rx->rising == 0) || !rx->ring_has || rx->mark_position == ring_position(r) + 1)
		return;
	rx->mark_position = ring_position(r) + 1;
	rx->mark_in = atomic_load_explicit(&rx->lanes[RX_LANE_EXPRESS]->in, memory_order_acquire);
	rx->mark_met = false;
}

bool lane_may_read_ring(struct rx *rx)
{
	if (!rx->ring_has)
		return false;
	if (LIKELY(rx->rising == 0) || rx->mark_met)
		return true;
	uint64_t out = atomic_load_explicit(&rx->lanes[RX_LANE_EXPRESS]->out, memory_order_relaxed);
	rx->mark_met = express_is_empty(rx->express) || (int64_t)(out - rx->mark_in) >= 0;
	return rx->mark_met;
}

static void judge(struct rx *rx, unsigned i, uint64_t elapsed_ns)
{
	struct rx_entry *e = &rx->group->entries[rx->moved[i]];
	uint64_t age = rx->now_ns - e->moved_ns;
	if (!is_mine(rx, e)) {
		leave_state(rx, e);
		forget(rx, i);
		return;
	}
	if (e->lane == RX_STATE_RISING && age > RISE_NS) {
		e->lane = RX_STATE_BULK;
		rx->rising--;
	}
	bool low = e->window_packets * NS_PER_MS < DOWN_PER_MS * elapsed_ns;
	e->low_windows = low ? e->low_windows + 1 : 0;
	e->window_packets = 0;
	if (e->lane == RX_STATE_BULK && e->low_windows >= DOWN_WINDOWS)
		fall(rx, e);
}

void lane_tick(struct rx *rx)
{
	uint64_t elapsed = rx->now_ns - rx->window_ns;
	if (elapsed < WINDOW_NS)
		return;
	rx->window_ns = rx->now_ns;
	for (unsigned i = rx->moved_count; i-- > 0;)
		judge(rx, i, elapsed);
	if (rx->moved_count == 0 && rx_ring_is_ready(&rx->ring) && !rx->ring_has &&
	    rx->now_ns - rx->ring.idle_ns > RING_IDLE_NS)
		rx_ring_let_go(rx);
}

int lane_sleep_ms(const struct rx *rx)
{
	if (rx->held_ready > 0)
		return 0;
	if (rx->falling > 0)
		return 1;
	if (rx->moved_count > 0)
		return (int)(WINDOW_NS / NS_PER_MS);
	return rx_ring_is_ready(&rx->ring) ? (int)(RING_IDLE_NS / NS_PER_MS) + 1 : -1;
}
