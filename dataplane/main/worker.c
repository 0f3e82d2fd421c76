// SPDX-License-Identifier: Apache-2.0
#include "main/worker.h"

#include <errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "core/rcu.h"
#include "main/pipeline.h"

// Frames of our own in flight: at most one per received frame, of at most one burst per worker.
#define WORKER_POOL_FRAMES (4 * PKT_BURST)
// Room after the mbuf's headroom for the longest answer (packet/build.h), rounded up.
#define WORKER_FRAME_ROOM (RTE_PKTMBUF_HEADROOM + 1536)
// Bulk traffic: a frame of this many bytes, and for how long after it a worker does not spin. Its
// sender and receiver copy the same bytes and want the processor; what spinning gains is latency.
#define WORKER_BULK_BYTES (16u << 10)
#define WORKER_BULK_NS NS_PER_MS

struct worker {
	unsigned id;
	unsigned lcore;
	uint64_t spin_ns;
	uint64_t bulk_until_ns;
	struct rx *rx;
	struct pipeline *pl;
	struct counters *c;
	_Atomic int cpu;
};

static struct worker worker_set[PORT_WORKERS_MAX];
static unsigned worker_count;
static struct rte_mempool *worker_pool;
static _Atomic bool worker_stop;

static void note_bulk(struct worker *w, const struct pkt *pkts, unsigned n, uint64_t now_ns)
{
	for (unsigned i = 0; i < n; i++)
		if (pkts[i].len >= WORKER_BULK_BYTES)
			w->bulk_until_ns = now_ns + WORKER_BULK_NS;
}

static bool may_spin(const struct worker *w, uint64_t last_work_ns, uint64_t now_ns)
{
	return now_ns >= w->bulk_until_ns && now_ns - last_work_ns < w->spin_ns;
}

// One batch from receive to transmit. Frames taken.
static unsigned run_once(struct worker *w, uint64_t now_ns)
{
	struct pkt pkts[PKT_BURST];
	unsigned n = rx_burst(w->rx, pkts, PKT_BURST, now_ns, w->c);

	if (n > 0) {
		counter_add(&w->c->bursts, 1);
		counter_add(&w->c->burst_packets, n);
		note_bulk(w, pkts, n, now_ns);
		pipeline_run(w->pl, pkts, n, now_ns);
	}
	pipeline_flush(w->pl);
	rx_release(w->rx);
	return n;
}

// Readers of tables are offline while they sleep, or the control thread would wait for them.
static void sleep_until_work(struct worker *w)
{
	uint64_t start = clock_now_ns();
	rcu_offline(w->id);
	rx_wait(w->rx, -1);
	rcu_online(w->id);
	counter_add(&w->c->asleep_ns, clock_now_ns() - start);
	atomic_store_explicit(&w->cpu, sched_getcpu(), memory_order_relaxed);
}

static int worker_main(void *arg)
{
	struct worker *w = arg;
	uint64_t last = clock_now_ns(), last_work = last;

	// The default slack of 50 us would be added to every timed sleep of this thread.
	(void)prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	rcu_register(w->id);
	while (!atomic_load_explicit(&worker_stop, memory_order_acquire)) {
		unsigned n = run_once(w, last);
		uint64_t now = clock_now_ns();
		counter_add(n ? &w->c->busy_ns : &w->c->idle_ns, now - last);
		rcu_quiescent(w->id);
		if (n > 0) {
			last_work = now;
		} else if (!may_spin(w, last_work, now)) {
			sleep_until_work(w);
			now = last_work = clock_now_ns();
		}
		last = now;
	}
	rcu_unregister(w->id);
	return 0;
}

static int prepare(unsigned id, unsigned lcore, const struct worker_conf *conf)
{
	struct worker *w = &worker_set[id];
	struct pipeline_conf pc = {
		.worker = id,
		.emc_entries = conf->emc_entries,
		.pool = worker_pool,
	};
	*w = (struct worker){
		.id = id,
		.lcore = lcore,
		.spin_ns = conf->spin_ns,
		.rx = rx_group_worker(conf->rx, id),
		.pl = pipeline_new(&pc),
		.c = counters_worker(id),
	};
	atomic_store(&w->cpu, -1);
	return w->pl ? 0 : -ENOMEM;
}

int workers_start(const struct worker_conf *conf, struct err *err)
{
	worker_pool = rte_pktmbuf_pool_create("answers", conf->workers * WORKER_POOL_FRAMES, 0, 0,
					      WORKER_FRAME_ROOM, SOCKET_ID_ANY);
	if (!worker_pool)
		return err_set(err, ENOMEM, "packet pool of %u frames",
			       conf->workers * WORKER_POOL_FRAMES);
	atomic_store(&worker_stop, false);
	unsigned lcore = rte_get_next_lcore(-1u, 1, 0);
	for (unsigned i = 0; i < conf->workers; i++) {
		if (lcore >= RTE_MAX_LCORE)
			return err_set(err, ENODEV, "worker %u has no EAL lcore", i);
		int r = prepare(i, lcore, conf);
		if (r < 0)
			return err_set(err, -r, "worker %u", i);
		r = rte_eal_remote_launch(worker_main, &worker_set[i], lcore);
		if (r < 0)
			return err_set(err, -r, "start worker %u on lcore %u", i, lcore);
		worker_count = i + 1;
		lcore = rte_get_next_lcore(lcore, 1, 0);
	}
	return 0;
}

void workers_stop(void)
{
	atomic_store_explicit(&worker_stop, true, memory_order_release);
	for (unsigned i = 0; i < worker_count; i++)
		rx_wake(worker_set[i].rx);
	for (unsigned i = 0; i < worker_count; i++)
		(void)rte_eal_wait_lcore(worker_set[i].lcore);
	for (unsigned i = 0; i < PORT_WORKERS_MAX; i++) {
		pipeline_free(worker_set[i].pl);
		worker_set[i].pl = NULL;
	}
	worker_count = 0;
	rte_mempool_free(worker_pool);
	worker_pool = NULL;
}

int worker_cpu(unsigned worker)
{
	if (worker >= worker_count)
		return -1;
	return atomic_load_explicit(&worker_set[worker].cpu, memory_order_relaxed);
}
