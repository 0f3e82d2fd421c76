// SPDX-License-Identifier: Apache-2.0
#include "features/attach/reaper.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "netlink/link.h"

#define STACK_BYTES (128u << 10)

LOG_MODULE("reaper");

struct job {
	STAILQ_ENTRY(job) link;
	uint32_t ifindex;
};

struct reaper {
	int netns_fd;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	STAILQ_HEAD(, job) jobs; // under lock, as is all below
	unsigned idle;
	bool stop;
	// Control thread only.
	unsigned threads;
	pthread_t thread[REAPER_THREADS];
};

// The next job, NULL when it is time to end.
static struct job *take(struct reaper *r)
{
	struct job *j;

	pthread_mutex_lock(&r->lock);
	r->idle++;
	while (STAILQ_EMPTY(&r->jobs) && !r->stop)
		pthread_cond_wait(&r->wake, &r->lock);
	r->idle--;
	j = STAILQ_FIRST(&r->jobs);
	if (j)
		STAILQ_REMOVE_HEAD(&r->jobs, link);
	pthread_mutex_unlock(&r->lock);
	return j;
}

static void *run(void *arg)
{
	struct reaper *r = arg;
	struct rtnl *rtnl = NULL;
	struct err err = ERR_INIT;
	struct job *j;
	int res = rtnl_open_in(r->netns_fd, &rtnl, &err);

	while ((j = take(r))) {
		if (rtnl)
			res = link_del(rtnl, j->ifindex, &err);
		if (res < 0)
			LOG_WARN("host end is not removed", "index=%u why=%s", j->ifindex,
				 err.text);
		free(j);
	}
	rtnl_close(rtnl);
	return NULL;
}

static int start_thread(struct reaper *r)
{
	pthread_attr_t attr;
	int res;

	if (r->threads == REAPER_THREADS)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	res = pthread_create(&r->thread[r->threads], &attr, run, r);
	pthread_attr_destroy(&attr);
	if (res == 0) {
		(void)pthread_setname_np(r->thread[r->threads], "weft-reaper");
		r->threads++;
	}
	return r->threads > 0 ? 0 : -res;
}

int reaper_open(int netns_fd, struct reaper **ret_reaper, struct err *err)
{
	struct reaper *r = calloc(1, sizeof(*r));

	if (!r)
		return err_set(err, ENOMEM, "reaper");
	r->netns_fd = netns_fd;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wake, NULL);
	STAILQ_INIT(&r->jobs);
	*ret_reaper = r;
	return 0;
}

int reaper_add(struct reaper *r, uint32_t ifindex)
{
	struct job *j = malloc(sizeof(*j));
	bool idle;
	int res;

	if (!j)
		return -ENOMEM;
	j->ifindex = ifindex;
	pthread_mutex_lock(&r->lock);
	idle = r->idle > 0 && STAILQ_EMPTY(&r->jobs);
	pthread_mutex_unlock(&r->lock);
	res = idle ? 0 : start_thread(r);
	if (res < 0) {
		free(j);
		return res;
	}
	pthread_mutex_lock(&r->lock);
	STAILQ_INSERT_TAIL(&r->jobs, j, link);
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	return 0;
}

void reaper_close(struct reaper *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->wake);
	pthread_mutex_unlock(&r->lock);
	for (unsigned i = 0; i < r->threads; i++)
		pthread_join(r->thread[i], NULL);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
