// SPDX-License-Identifier: Apache-2.0
#include "main/eal.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/compiler.h"

// MB of plain memory. Measured with 4 workers: the answer pools take 2.3 MB; the heap wants 2 MB
// more for its own tables, and memory that nobody touches costs nothing.
#define MEMORY_MB "16"
#define LCORES_TEXT_MAX 4096
#define ARGS_MAX 16

LOG_MODULE("eal");

unsigned eal_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

unsigned eal_default_workers(void)
{
	unsigned cpus = eal_cpus();

	return cpus <= 4 ? 1 : cpus <= 16 ? 2 : 4;
}

// "(0-N)@(CPU,CPU,...)": every lcore may run on every CPU of the process.
static int lcores_text(unsigned workers, struct buf *out)
{
	const char *comma = "";
	cpu_set_t set;
	int r;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	r = buf_addf(out, "(0-%u)@(", workers);
	for (int cpu = 0; r == 0 && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		r = buf_addf(out, "%s%d", comma, cpu);
		comma = ",";
	}
	return r < 0 ? r : buf_addf(out, ")");
}

static enum log_level level_of(uint32_t rte_level)
{
	if (rte_level <= RTE_LOG_ERR)
		return LOG_LEVEL_ERR;
	if (rte_level == RTE_LOG_WARNING)
		return LOG_LEVEL_WARN;
	// What EAL calls a notice is no event in the life of a node.
	return LOG_LEVEL_DEBUG;
}

// EAL's own stream: its lines become ours, with our format and level.
static ssize_t write_line(void *cookie, const char *data, size_t size)
{
	size_t len = size;

	(void)cookie;
	while (len > 0 && (data[len - 1] == '\n' || data[len - 1] == ' '))
		len--;
	if (len > 0)
		LOG_AT(level_of((uint32_t)rte_log_cur_msg_loglevel()), "dpdk", "text=%.*s",
		       (int)len, data);
	return (ssize_t)size;
}

static void take_logs(void)
{
	const cookie_io_functions_t io = {.write = write_line};
	FILE *f = fopencookie(NULL, "w", io);

	if (!f)
		return;
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	rte_openlog_stream(f);
}

// EAL takes its arguments as writable texts and leaves them as they are.
static int add_args(const struct eal_conf *conf, const char *lcores, char **argv)
{
	// Without hugepages --in-memory is refused; --no-shconf is the part of it that matters.
	const char *const args[] = {"weftd",
				    "--no-pci",
				    "--no-telemetry",
				    "-m",
				    MEMORY_MB,
				    "--lcores",
				    lcores,
				    "--file-prefix",
				    "weftd",
				    conf->hugepages ? "--in-memory" : "--no-huge",
				    conf->hugepages ? NULL : "--no-shconf"};
	int argc = 0;

	(void)setenv("RUNTIME_DIRECTORY", conf->run_dir, 1);
	for (size_t i = 0; i < ARRAY_LEN(args) && args[i]; i++)
		argv[argc++] = (char *)args[i];
	return argc;
}

int eal_start(const struct eal_conf *conf, struct err *err)
{
	_cleanup_(buf_fini) struct buf lcores = BUF_INIT(LCORES_TEXT_MAX);
	char *argv[ARGS_MAX + 1] = {NULL};
	int argc, r = lcores_text(conf->workers, &lcores);

	if (r < 0)
		return err_set(err, -r, "list of CPUs");
	take_logs();
	rte_log_set_global_level(conf->log_level == LOG_LEVEL_DEBUG ? RTE_LOG_INFO
								    : RTE_LOG_WARNING);
	argc = add_args(conf, lcores.data, argv);
	if (rte_eal_init(argc, argv) < 0)
		return err_set(err, rte_errno ? rte_errno : EIO, "start DPDK%s",
			       conf->hugepages ? " with hugepages (are any free?)" : "");
	return 0;
}

void eal_stop(void)
{
	rte_eal_cleanup();
	rte_openlog_stream(NULL);
}
