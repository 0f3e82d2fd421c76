// SPDX-License-Identifier: Apache-2.0
#include "main/worker_row.h"

#include <rte_cycles.h>

#include "base/clock.h"
#include "core/counters.h"
#include "main/worker.h"

static uint64_t load(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

void worker_row(struct jput *j, unsigned worker)
{
	const struct counters *c = counters_worker(worker);
	double busy = (double)load(&c->busy_ns), idle = (double)load(&c->idle_ns);
	double asleep = (double)load(&c->asleep_ns), all = busy + idle + asleep;
	double packets = (double)load(&c->burst_packets);

	jput_object(j, NULL);
	jput_int(j, "id", worker);
	jput_int(j, "cpu", worker_cpu(worker));
	jput_double(j, "busy", ratio(busy, all));
	jput_double(j, "idle", ratio(idle, all));
	jput_double(j, "asleep", ratio(asleep, all));
	jput_u64(j, "rx_packets", load(&c->burst_packets));
	jput_double(j, "cycles_per_packet",
		    ratio(busy * (double)rte_get_tsc_hz() / NS_PER_SEC, packets));
	jput_double(j, "batch", ratio(packets, (double)load(&c->bursts)));
	jput_u64(j, "busy_ns", load(&c->busy_ns));
	jput_u64(j, "idle_ns", load(&c->idle_ns));
	jput_u64(j, "asleep_ns", load(&c->asleep_ns));
	jput_u64(j, "emc_hits", load(&c->emc_hits));
	jput_u64(j, "emc_misses", load(&c->emc_misses));
	jput_end(j);
}
