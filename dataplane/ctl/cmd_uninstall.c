// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "commands.h"
#include "options.h"
#include "uninstall.h"

struct tally {
	const struct ctl *ctl;
	struct jput *steps; // with -j
	bool has_left;
};

static void hear(const char *what, bool left, void *arg)
{
	struct tally *t = arg;

	t->has_left |= left;
	if (!t->steps) {
		fprintf(t->ctl->out, "%-8s  %s\n", left ? "left" : "removed", what);
		return;
	}
	jput_object(t->steps, NULL);
	jput_string(t->steps, "what", what);
	jput_bool(t->steps, "removed", !left);
	jput_end(t->steps);
}

static int run(const struct ctl *ctl, const struct uninstall_conf *conf, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = ctl->json ? ctl_document() : NULL;
	struct tally t = {.ctl = ctl, .steps = j};
	int r;

	if (ctl->json && !j)
		return err_set(err, ENOMEM, "build the document");
	if (j)
		jput_array(j, "steps");
	r = uninstall_run(conf, hear, &t, err);
	if (r < 0)
		return r;
	if (j) {
		jput_end(j);
		jput_end(j);
		r = ctl_print_document(ctl, TAKE_PTR(j), err);
	}
	return r < 0 ? r : t.has_left ? CTL_FAILED : CTL_OK;
}

static int cmd_uninstall(const struct ctl *ctl, char *const *args, struct err *err)
{
	struct uninstall_conf conf = {
		.run_dir = ctl->run_dir,
		.state_dir = "/var/lib/weft",
		.netns = "weft",
		.host_if = "weft0",
	};
	const struct option_value values[] = {
		{"--netns", &conf.netns},
		{"--host-if", &conf.host_if},
		{"--state-dir", &conf.state_dir},
	};
	int r = options_parse_values(args, values, ARRAY_LEN(values), err);

	return r ? r : run(ctl, &conf, err);
}

const struct command cmd_uninstall_command = {
	"uninstall-node",
	"[--netns NAME] [--host-if NAME] [--state-dir DIR]",
	"take away what weft made on this node; weftd must be stopped",
	cmd_uninstall,
};
