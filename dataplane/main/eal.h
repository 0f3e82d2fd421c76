// SPDX-License-Identifier: Apache-2.0
// The DPDK environment: memory, lcores, logs. Once per process.
//
// The calling thread becomes the main lcore and stays the control thread. Workers float over the
// CPUs that the process may use: pinning is the operator's (taskset, cpuset), who knows what else
// runs there. No file is shared with other processes, so any number of weftd run on one machine.
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"

struct eal_conf {
	unsigned workers;
	bool hugepages;
	const char *run_dir; // EAL's own folder goes below it
	enum log_level log_level;
};

// CPUs that the process may use.
unsigned eal_cpus(void);
// Default number of workers: 1 up to 4 CPUs, 2 up to 16, else 4.
unsigned eal_default_workers(void);
// 0 or -errno.
int eal_start(const struct eal_conf *conf, struct err *err);
void eal_stop(void);
