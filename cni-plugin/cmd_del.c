// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "cmd.h"
#include "ipam.h"
#include "release.h"

LOG_MODULE("del");

#define WEFTD_MS 3000 // leaves time for the rest within the 5 s that a DEL may take without weftd
#define DELEGATE_MS 10000

// The pod's namespace is not looked at: it may be gone, be no namespace, or by now be another
// pod's. The host end of the link tells by its alias whose it is.
int cmd_del(struct cmd_call *call, char **ret_text, struct err *err)
{
	struct attachment a = cmd_attachment(call);
	int r = release_attachment(&call->conf, &a, cmd_deadline(call, WEFTD_MS), err);
	struct err second = ERR_INIT;
	int r2 = 0;

	(void)ret_text;
	if (ipam_is_used(&call->conf))
		r2 = ipam_call(&call->args, &call->conf, "DEL", DELEGATE_MS, &second);
	if (r2 < 0 && r < 0)
		LOG_ERR("second error", "text=\"%s\"", second.text);
	if (r2 < 0 && r == 0) {
		*err = second;
		r = r2;
	}
	if (r == 0)
		LOG_INFO("released", "id=%s ifname=%s", a.container_id, a.ifname);
	return r;
}
