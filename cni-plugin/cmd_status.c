// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd.h"
#include "daemon.h"
#include "ipam.h"

// containerd asks every few seconds and holds a lock meanwhile: an answer within 1 s, whatever it
// is.
#define WEFTD_MS 600
#define ALL_MS 900

static int ask_weftd(struct cmd_call *call, struct err *err)
{
	_cleanup_(daemon_closep) struct client *c = NULL;
	uint64_t deadline = cmd_deadline(call, WEFTD_MS);
	int r = daemon_open(call->conf.run_dir, deadline, false, &c, err);

	if (r == 0)
		r = daemon_ready(c, deadline, err);
	// "Try again later" would say nothing about now.
	if (r < 0 && err->code < CNI_CODE_UNAVAILABLE)
		err->code = CNI_CODE_UNAVAILABLE;
	return r;
}

int cmd_status(struct cmd_call *call, char **ret_text, struct err *err)
{
	int r = ask_weftd(call, err);

	(void)ret_text;
	if (r < 0 || !ipam_is_used(&call->conf))
		return r;
	r = ipam_call(&call->args, &call->conf, "STATUS",
		      (unsigned)clock_left_ms(cmd_deadline(call, ALL_MS)), err);
	if (r < 0)
		err->code = CNI_CODE_UNAVAILABLE;
	return r < 0 ? r : 0;
}
