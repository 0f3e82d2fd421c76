// SPDX-License-Identifier: Apache-2.0
// The socket's side of attachments: decode, call features/attach, fill the reply.
//
// Requests have passed msg_check. reply stands inside the reply object; nothing is written to it
// after an error. Codes of errors are CNI's. Control thread.
#pragma once

#include "core/counters.h"
#include "features/attach/attach.h"
#include "json/jput.h"

// `attach`, for the connection owner. 0 or -errno.
int attach_api_attach(struct attach *a, const struct jval *request, uint64_t owner,
		      struct jput *reply, struct err *err);
// Where an activation that waits is answered.
struct attach_api_wait {
	uint64_t owner;
	attach_done_fn *done;
	void *arg;
};
// `activate`. 0, ATTACH_WAITS (done comes later; attach_api_activated fills that reply) or -errno.
int attach_api_activate(struct attach *a, const struct jval *request,
			const struct attach_api_wait *wait, struct jput *reply, struct err *err);
void attach_api_activated(const struct attachment *at, struct jput *reply);
// `detach`, `check`, `gc`. 0 or -errno.
int attach_api_detach(struct attach *a, const struct jval *request, struct jput *reply,
		      struct err *err);
int attach_api_check(struct attach *a, const struct jval *request, struct err *err);
int attach_api_gc(struct attach *a, const struct jval *request, struct jput *reply,
		  struct err *err);
// One row of `get pod` as an object of the array or member key.
void attach_api_row(struct jput *j, const char *key, const struct attachment *at,
		    const struct counters_sum *sum);
