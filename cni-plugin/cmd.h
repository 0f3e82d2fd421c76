// SPDX-License-Identifier: Apache-2.0
// The verbs of the CNI specification, and the one way to run them.
#pragma once

#include <stdint.h>

#include "attachment.h"
#include "base/err.h"
#include "cni_args.h"
#include "cni_conf.h"

struct cmd_call {
	uint64_t start_ns; // monotonic: deadlines count from here
	struct cni_args args;
	struct cni_conf conf;
};

// Runs the verb that CNI_COMMAND names: environment, stdin, version, then the verb itself, in the
// order of the reference implementation. *ret_text is what belongs on stdout, malloc'ed, or NULL.
// 0 or -errno with a code in err.
int cmd_run(struct cmd_call *call, const char *command, char **ret_text, struct err *err);
void cmd_call_fini(struct cmd_call *call);

// One verb. *ret_text (may stay NULL) is malloc'ed. 0, or -errno with everything undone that was
// begun.
typedef int cmd_fn(struct cmd_call *call, char **ret_text, struct err *err);

cmd_fn cmd_add;
cmd_fn cmd_del;
cmd_fn cmd_check;
cmd_fn cmd_status;
cmd_fn cmd_gc;
// Works without any of args and conf; waits for stdin for a moment only.
cmd_fn cmd_version;

// Monotonic ns of the moment `ms` after the start of the call.
uint64_t cmd_deadline(const struct cmd_call *call, unsigned ms);
// Network, container and interface of the call. Borrowed from it.
struct attachment cmd_attachment(const struct cmd_call *call);
