// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/psock.h"
#include "io/rx.h"
#include "io/rx_buffers.h"
#include "io/rx_priv.h"
#include "netlink/netns.h"

// Bytes that may wait in a worker's express lane as the programs count them, and the socket's own
// limit. The kernel counts a small frame as up to 1280 bytes where the programs count 576, so the
// limit is never met before the shares are.
#define EXPRESS_CAPACITY (8ul << 20)
#define EXPRESS_RCVBUF (16 << 20) // doubled by the kernel

struct open_call {
	struct rx_group *g;
	struct err *err;
};

static bool is_receiving(const struct rx_group *g, unsigned worker)
{
	return g->mode == RX_MODE_LANES || worker == 0;
}

// The admission program, and the place in the group. In mmsg mode the socket stays alone.
static int join(struct rx_group *g, unsigned worker, int fd, struct err *err)
{
	if (g->mode != RX_MODE_LANES)
		return psock_bind_all(fd, err);
	int r = psock_refuse_all(fd, err);
	if (r == 0)
		r = psock_bind_all(fd, err);
	if (r == 0)
		r = psock_join(fd, &g->fanout, err);
	if (r == 0 && worker == 0)
		r = psock_set_fanout_prog(fd, g->prog.fanout_fd, err);
	if (r == 0)
		r = psock_attach(fd, g->prog.admit_fd[worker * 2 + RX_LANE_EXPRESS], err);
	return r;
}

static int open_express(struct rx_group *g, unsigned worker, struct err *err)
{
	struct rx *rx = &g->rx[worker];
	rx->express_fd = psock_open(err);
	if (rx->express_fd < 0)
		return rx->express_fd;
	int r = psock_set_auxdata(rx->express_fd, err);
	if (r == 0)
		r = psock_set_rcvbuf(rx->express_fd, EXPRESS_RCVBUF, err);
	if (r == 0)
		r = join(g, worker, rx->express_fd, err);
	if (r < 0)
		return r;
	rx->express = rx_buffers_new_express(rx->express_fd);
	if (g->mode == RX_MODE_LANES)
		rx->hold = rx_buffers_new_hold();
	return rx->express && (rx->hold || g->mode != RX_MODE_LANES)
		       ? 0
		       : err_set(err, ENOMEM, "receive buffers of worker %u", worker);
}

static void close_express(struct rx *rx)
{
	rx_buffers_free_express(rx->express);
	rx->express = NULL;
	rx_buffers_free_hold(rx->hold);
	rx->hold = NULL;
	if (rx->express_fd >= 0)
		close(rx->express_fd);
	rx->express_fd = -1;
}

// Members join in the order of workers and never leave before the group ends, so worker w's express
// lane is member w.
static int open_sockets(void *arg)
{
	struct open_call *call = arg;
	int r = 0;
	for (unsigned w = 0; w < call->g->workers && r == 0; w++)
		if (is_receiving(call->g, w))
			r = open_express(call->g, w, call->err);
	return r;
}

static int try_lanes(struct rx_group *g, struct err *err)
{
	struct open_call call = {g, err};
	int r = rx_map_open(&g->prog, g->workers * 2, err);
	if (r < 0)
		return r;
	g->mode = RX_MODE_LANES;
	for (unsigned w = 0; w < g->workers; w++) {
		for (unsigned lane = 0; lane < 2; lane++)
			g->rx[w].lanes[lane] = &g->prog.map->lanes[w * 2 + lane];
		atomic_store(&g->rx[w].lanes[RX_LANE_EXPRESS]->capacity, EXPRESS_CAPACITY);
	}
	g->members = g->workers;
	r = netns_run(g->netns_fd, open_sockets, &call);
	if (r == 0)
		return 0;
	for (unsigned w = 0; w < g->workers; w++)
		close_express(&g->rx[w]);
	rx_map_close(&g->prog);
	return r;
}

static int open_lanes(struct rx_group *g, enum rx_mode wanted, struct err *err)
{
	struct err why = ERR_INIT;
	struct open_call call = {g, err};
	if (wanted != RX_MODE_MMSG) {
		int r = try_lanes(g, &why);
		if (r == 0)
			return 0;
		snprintf(g->reason, sizeof(g->reason), "%s", why.text);
		if (wanted == RX_MODE_LANES)
			return err_set(err, -r, "receive lanes: %s", why.text);
	} else {
		snprintf(g->reason, sizeof(g->reason), "asked for by configuration");
	}
	g->mode = RX_MODE_MMSG;
	return netns_run(g->netns_fd, open_sockets, &call);
}

static int open_events(struct rx_group *g, struct err *err)
{
	g->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->event_fd < 0)
		return err_set(err, errno, "eventfd");
	for (unsigned w = 0; w < g->workers; w++) {
		g->rx[w].event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (g->rx[w].event_fd < 0)
			return err_set(err, errno, "eventfd");
	}
	return 0;
}

static struct rx_group *new_group(unsigned workers)
{
	struct rx_group *g = aligned_alloc(CACHE_LINE, sizeof(*g));
	if (!g)
		return NULL;
	memset(g, 0, sizeof(*g));
	g->workers = workers;
	g->netns_fd = g->event_fd = -1;
	g->fanout = -1;
	for (unsigned w = 0; w < PORT_WORKERS_MAX; w++) {
		g->rx[w] = (struct rx){
			.group = g, .worker = w, .express_fd = -1, .event_fd = -1, .ring.fd = -1};
	}
	return g;
}

static void group_closep(struct rx_group **g)
{
	rx_group_close(*g);
}

int rx_group_open(const struct rx_conf *conf, struct rx_group **ret_group, struct err *err)
{
	if (conf->workers == 0 || conf->workers > PORT_WORKERS_MAX)
		return err_set(err, EINVAL, "receive: %u workers", conf->workers);
	_cleanup_(group_closep) struct rx_group *g = new_group(conf->workers);
	if (!g)
		return err_set(err, ENOMEM, "receive group");
	g->netns_fd = fcntl(conf->netns_fd, F_DUPFD_CLOEXEC, 0);
	if (g->netns_fd < 0)
		return err_set(err, errno, "copy the namespace descriptor");
	int r = open_events(g, err);
	if (r == 0)
		r = open_lanes(g, conf->mode, err);
	if (r < 0)
		return r;
	*ret_group = TAKE_PTR(g);
	return 0;
}

void rx_group_close(struct rx_group *g)
{
	if (!g)
		return;
	for (unsigned w = 0; w < g->workers; w++) {
		rx_ring_close(&g->rx[w]);
		close_express(&g->rx[w]);
		if (g->rx[w].event_fd >= 0)
			close(g->rx[w].event_fd);
	}
	if (g->prog.map)
		rx_map_close(&g->prog);
	if (g->event_fd >= 0)
		close(g->event_fd);
	if (g->netns_fd >= 0)
		close(g->netns_fd);
	free(g);
}

enum rx_mode rx_group_mode(const struct rx_group *g)
{
	return g->mode;
}

const char *rx_group_fallback_reason(const struct rx_group *g)
{
	return g->mode == RX_MODE_LANES ? "" : g->reason;
}

struct rx *rx_group_worker(struct rx_group *g, unsigned worker)
{
	return worker < g->workers ? &g->rx[worker] : NULL;
}

static uint64_t get(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void set(_Atomic uint64_t *v, uint64_t value)
{
	atomic_store_explicit(v, value, memory_order_relaxed);
}

// Nothing of this index is admitted since it was closed.
static void open_port(struct rx_group *g, uint32_t ifindex, unsigned worker, bool moved)
{
	struct rx_map_port *port = &g->prog.map->ports[ifindex];
	struct rx_entry *e = &g->entries[ifindex];
	// Another worker drops its old frames as not its own; nobody would count them as taken.
	if (moved)
		set(&port->out, get(&port->in));
	for (unsigned lane = 0; lane < 2; lane++)
		set(&e->stale_until[lane], get(&g->rx[worker].lanes[lane]->in));
	set(&e->dropped_base, get(&port->dropped));
	atomic_store_explicit(&port->member, worker, memory_order_relaxed);
}

int rx_port_add(struct rx_group *g, uint32_t ifindex, uint16_t port_id, unsigned worker)
{
	if (ifindex == 0 || ifindex >= RX_IFINDEX_MAX || port_id == 0 || port_id >= PORT_MAX)
		return -ERANGE;
	if (worker >= g->workers)
		return -EINVAL;
	if (g->mode != RX_MODE_LANES)
		worker = 0;
	struct rx_entry *e = &g->entries[ifindex];
	rx_owner old = atomic_load_explicit(&e->owner, memory_order_relaxed);
	if (rx_owner_port(old) != 0)
		return -EEXIST;
	struct rx_map *map = g->prog.map;
	if (map)
		open_port(g, ifindex, worker, rx_owner_worker(old) != worker);
	atomic_store_explicit(&e->owner,
			      rx_owner_make(port_id, worker, rx_owner_generation(old) + 1),
			      memory_order_release);
	atomic_fetch_or(&g->active[ifindex / 64], 1ull << ifindex % 64);
	if (map)
		atomic_store_explicit(&map->ports[ifindex].open, 1, memory_order_release);
	return 0;
}

void rx_port_del(struct rx_group *g, uint32_t ifindex)
{
	if (ifindex >= RX_IFINDEX_MAX)
		return;
	struct rx_entry *e = &g->entries[ifindex];
	rx_owner old = atomic_load_explicit(&e->owner, memory_order_relaxed);
	if (g->prog.map)
		atomic_store(&g->prog.map->ports[ifindex].open, 0);
	atomic_fetch_and(&g->active[ifindex / 64], ~(1ull << ifindex % 64));
	atomic_store_explicit(&e->owner,
			      rx_owner_make(0, rx_owner_worker(old), rx_owner_generation(old)),
			      memory_order_release);
}

enum rx_lane rx_port_lane(const struct rx_group *g, uint32_t ifindex)
{
	if (!g->prog.map || ifindex >= RX_IFINDEX_MAX)
		return RX_LANE_EXPRESS;
	uint32_t member =
		atomic_load_explicit(&g->prog.map->ports[ifindex].member, memory_order_relaxed);
	return member < g->workers ? RX_LANE_EXPRESS : RX_LANE_BULK;
}

int rx_group_event_fd(const struct rx_group *g)
{
	return g->event_fd;
}

void rx_group_service(struct rx_group *g, uint64_t now_ns)
{
	(void)now_ns;
	uint64_t count;
	(void)!read(g->event_fd, &count, sizeof(count));
	if (g->mode == RX_MODE_LANES)
		rx_ring_service(g);
}
