// SPDX-License-Identifier: Apache-2.0
#include "core/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

static struct counters *counters_set[PORT_WORKERS_MAX];
static unsigned counters_workers;
static struct counters_sum counters_gone; // control thread only

int counters_init(unsigned workers)
{
	if (workers == 0 || workers > PORT_WORKERS_MAX)
		return -ERANGE;
	for (unsigned i = 0; i < workers; i++) {
		// calloc of this size is an untouched mapping: rows of unused ports cost no memory.
		counters_set[i] = calloc(1, sizeof(*counters_set[i]));
		if (!counters_set[i]) {
			counters_fini();
			return -ENOMEM;
		}
	}
	counters_workers = workers;
	return 0;
}

void counters_fini(void)
{
	for (unsigned i = 0; i < PORT_WORKERS_MAX; i++) {
		free(counters_set[i]);
		counters_set[i] = NULL;
	}
	counters_workers = 0;
	memset(&counters_gone, 0, sizeof(counters_gone));
}

struct counters *counters_worker(unsigned worker)
{
	return worker < PORT_WORKERS_MAX ? counters_set[worker] : NULL;
}

static uint64_t counter_read(const _Atomic uint64_t *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

static void sum_row(const struct port_counters *row, struct counters_sum *sum)
{
	sum->rx_packets += counter_read(&row->rx_packets);
	sum->rx_bytes += counter_read(&row->rx_bytes);
	sum->tx_packets += counter_read(&row->tx_packets);
	sum->tx_bytes += counter_read(&row->tx_bytes);
	for (unsigned r = 0; r < DROP_COUNT; r++)
		sum->drops[r] += counter_read(&row->drops[r]);
}

void counters_sum_port(uint16_t id, struct counters_sum *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned w = 0; id < PORT_MAX && w < counters_workers; w++)
		sum_row(&counters_set[w]->port[id], ret);
}

void counters_sum_gone(struct counters_sum *ret)
{
	*ret = counters_gone;
}

static void clear_row(struct port_counters *row)
{
	atomic_store_explicit(&row->rx_packets, 0, memory_order_relaxed);
	atomic_store_explicit(&row->rx_bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&row->tx_packets, 0, memory_order_relaxed);
	atomic_store_explicit(&row->tx_bytes, 0, memory_order_relaxed);
	for (unsigned r = 0; r < DROP_COUNT; r++)
		atomic_store_explicit(&row->drops[r], 0, memory_order_relaxed);
}

void counters_retire(uint16_t id)
{
	for (unsigned w = 0; id < PORT_MAX && w < counters_workers; w++) {
		sum_row(&counters_set[w]->port[id], &counters_gone);
		clear_row(&counters_set[w]->port[id]);
	}
}
