// SPDX-License-Identifier: Apache-2.0
#include "harness/eal.h"

#include <rte_eal.h>
#include <stdio.h>

int test_eal_start(void)
{
	char prog[] = "test", huge[] = "--no-huge", conf[] = "--no-shconf", mem[] = "-m",
	     mb[] = "32", pci[] = "--no-pci", tele[] = "--no-telemetry", log[] = "--log-level=4",
	     cores[] = "--lcores=0@(0-1)";
	char *argv[] = {prog, huge, conf, mem, mb, pci, tele, log, cores, NULL};
	return rte_eal_init(9, argv);
}
