// SPDX-License-Identifier: Apache-2.0
#include "cmd.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "cni_log.h"

struct verb {
	const char *name;
	cmd_fn *fn;
	unsigned needs; // set of enum cni_needs
	enum cni_version min;
	bool any_version; // works whatever the config's version is
};

// A DEL must be able to clean up after any ADD, also one that another version of us answered.
static const struct verb verbs[] = {
	{"ADD", cmd_add,
	 CNI_NEEDS_ATTACHMENT | CNI_NEEDS_NETNS | CNI_NEEDS_PATH | CNI_NEEDS_ARGS,
	 CNI_VERSION_0_1_0, false},
	{"DEL", cmd_del, CNI_NEEDS_ATTACHMENT | CNI_NEEDS_PATH, CNI_VERSION_0_1_0, true},
	{"CHECK", cmd_check,
	 CNI_NEEDS_ATTACHMENT | CNI_NEEDS_NETNS | CNI_NEEDS_PATH | CNI_NEEDS_ARGS,
	 CNI_VERSION_0_4_0, false},
	{"STATUS", cmd_status, 0, CNI_VERSION_1_1_0, false},
	{"GC", cmd_gc, CNI_NEEDS_PATH, CNI_VERSION_1_1_0, false},
};

uint64_t cmd_deadline(const struct cmd_call *call, unsigned ms)
{
	return call->start_ns + ms * NS_PER_MS;
}

struct attachment cmd_attachment(const struct cmd_call *call)
{
	return (struct attachment){.network = call->conf.name,
				   .container_id = call->args.container_id,
				   .ifname = call->args.ifname};
}

static const struct verb *find_verb(const char *command)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(verbs[i].name, command) == 0)
			return &verbs[i];
	}
	return NULL;
}

int cmd_run(struct cmd_call *call, const char *command, char **ret_text, struct err *err)
{
	const struct verb *verb = find_verb(command);
	int r;

	if (strcmp(command, "VERSION") == 0)
		return cmd_version(call, ret_text, err);
	if (!verb)
		return err_set_code(err, CNI_CODE_ENVIRONMENT, 0, "unknown CNI_COMMAND: %.64s",
				    command);
	r = cni_args_read(&call->args, verb->needs, err);
	if (r == 0)
		r = cni_conf_read(&call->conf, STDIN_FILENO, err);
	if (r == 0 && !verb->any_version)
		r = cni_conf_check_version(&call->conf, verb->min, verb->name, err);
	if (r < 0)
		return r;
	cni_log_open(&call->conf);
	return verb->fn(call, ret_text, err);
}

void cmd_call_fini(struct cmd_call *call)
{
	cni_args_fini(&call->args);
	cni_conf_fini(&call->conf);
}
