// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd.h"
#include "daemon.h"
#include "gc.h"
#include "ipam.h"

LOG_MODULE("gc");

#define CONNECT_MS 4000
#define WORK_MS 20000 // a long list and a journal on a slow disk
#define DELEGATE_MS 10000

// The spec and the library name the key differently. A null list is an empty one (that is how a
// runtime says "I have none"); no key at all is no information.
static const struct jval *find_list(struct cmd_call *call, struct jval *valid, int *ret_r,
				    struct err *err)
{
	static const char *const keys[] = {"cni.dev/valid-attachments", "cni.dev/attachments"};

	*ret_r = 0;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!jget_has(&call->conf.root, keys[i], JNOCASE))
			continue;
		*ret_r = jget_array(&call->conf.root, keys[i], JOPTIONAL | JNOCASE, valid, err);
		return valid;
	}
	return NULL;
}

static int tell_weftd(struct cmd_call *call, struct err *err)
{
	_cleanup_(daemon_closep) struct client *c = NULL;
	struct jval list = {0};
	int r;
	const struct jval *valid = find_list(call, &list, &r, err);

	if (r < 0)
		return cni_code(err, r, CNI_CODE_CONFIG);
	r = daemon_open(call->conf.run_dir, cmd_deadline(call, CONNECT_MS), true, &c, err);
	if (r < 0)
		return r;
	return gc_send(c, call->conf.name, valid, cmd_deadline(call, WORK_MS), err);
}

int cmd_gc(struct cmd_call *call, char **ret_text, struct err *err)
{
	int r = tell_weftd(call, err);
	struct err second = ERR_INIT;
	int r2;

	(void)ret_text;
	if (!ipam_is_used(&call->conf))
		return r;
	// The delegate collects its own rubbish whatever became of ours.
	r2 = ipam_call(&call->args, &call->conf, "GC", DELEGATE_MS, &second);
	if (r2 == IPAM_UNSUPPORTED)
		LOG_DEBUG("IPAM plugin knows no GC", "type=%s", call->conf.ipam_type);
	if (r2 < 0 && r < 0)
		LOG_ERR("second error", "text=\"%s\"", second.text);
	if (r2 < 0 && r == 0) {
		*err = second;
		r = r2;
	}
	return r;
}
