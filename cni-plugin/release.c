// SPDX-License-Identifier: Apache-2.0
#include "release.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon.h"
#include "hostlink.h"
#include "spool.h"

LOG_MODULE("release");

#define SECOND_TRY_MS 500

static int detach(const struct cni_conf *conf, const struct attachment *a, uint64_t deadline_ns,
		  bool *ret_found, struct err *err)
{
	_cleanup_(daemon_closep) struct client *c = NULL;
	int r = daemon_open(conf->run_dir, deadline_ns, false, &c, err);

	if (r == 0)
		r = daemon_detach(c, a, deadline_ns, ret_found, err);
	return r;
}

// weftd could have started, and read its spool, between our failure to reach it and the entry
// that we wrote. It listens before it reads the spool, so one more try closes the gap.
static void try_again(const struct cni_conf *conf, const struct attachment *a)
{
	bool found;

	if (detach(conf, a, clock_deadline_ns(SECOND_TRY_MS), &found, NULL) == 0)
		spool_remove(conf->run_dir, a, NULL);
}

static int leave_in_spool(const struct cni_conf *conf, const struct attachment *a, int reason,
			  struct err *err)
{
	int r = spool_write(conf->run_dir, a, err);

	if (r < 0)
		return cni_code(err, err_wrap(err, r, "weftd is away and its spool fails"),
				CNI_CODE_IO);
	LOG_WARN("weftd is away, the release waits in its spool", "id=%s ifname=%s",
		 a->container_id, a->ifname);
	if (reason == -ECONNREFUSED)
		try_again(conf, a);
	return 0;
}

int release_attachment(const struct cni_conf *conf, const struct attachment *a,
		       uint64_t deadline_ns, struct err *err)
{
	struct err said = ERR_INIT, link_err = ERR_INIT;
	bool found = false;
	int r = detach(conf, a, deadline_ns, &found, &said);
	int link = r == 0 && found ? 0 : hostlink_remove(conf->netns, a, r < 0, &link_err);

	if (r == 0) {
		r = spool_remove(conf->run_dir, a, err);
	} else if (daemon_is_away(r)) {
		r = leave_in_spool(conf, a, r, err);
	} else {
		*err = said;
	}
	if (r == 0 && link < 0) {
		*err = link_err;
		r = cni_code(err, link, CNI_CODE_LINK);
	}
	return r;
}
