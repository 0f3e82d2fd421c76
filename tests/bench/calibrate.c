// SPDX-License-Identifier: Apache-2.0
// How long a fixed piece of work takes on every processor at once, in microseconds: the slowest
// counts. A figure above that of a quiet machine means that somebody else is at work.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define CPUS_MAX 64
#define STEPS 20000000u

struct job {
	pthread_t thread;
	int cpu;
	uint64_t ns;
	uint32_t result;
};

static void *work(void *arg)
{
	struct job *job = arg;
	uint32_t x = 1;
	uint64_t start;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(job->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	start = clock_now_ns();
	// A chain that the compiler cannot shorten (xorshift).
	for (uint32_t i = 0; i < STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	job->ns = clock_now_ns() - start;
	job->result = x;
	return NULL;
}

int main(void)
{
	static struct job jobs[CPUS_MAX];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t worst = 0;
	uint32_t mix = 0;

	if (cpus > CPUS_MAX)
		cpus = CPUS_MAX;
	for (long i = 0; i < cpus; i++) {
		jobs[i].cpu = (int)i;
		if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0)
			return 1;
	}
	for (long i = 0; i < cpus; i++) {
		pthread_join(jobs[i].thread, NULL);
		mix ^= jobs[i].result;
		if (jobs[i].ns > worst)
			worst = jobs[i].ns;
	}
	printf("{\"us\": %llu, \"mix\": %u}\n", (unsigned long long)(worst / NS_PER_US), mix);
	return 0;
}
