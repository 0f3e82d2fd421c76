// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

// The text goes to stderr; with -j a reader of stdout finds it in a document as well.
static void print_error(const struct ctl *ctl, enum ctl_exit status, const struct err *err)
{
	struct jput *j;

	fprintf(stderr, "weftctl: %s\n", err->text);
	if (!ctl->json || status == CTL_USAGE)
		return;
	j = ctl_document();
	if (!j)
		return;
	jput_object(j, "error");
	jput_string(j, "msg", err->text);
	jput_end(j);
	jput_end(j);
	ctl_print_document(ctl, j, NULL);
}

static int run(const struct options *o, struct err *err)
{
	const struct command *c;

	if (!o->args[0])
		return ctl_usage(err, "which object? `weftctl --help` lists them");
	c = ctl_find_command(o->args[0]);
	if (!c && commands_is_later(o->args[0]))
		return ctl_usage(err, "`%s` is not in this release", o->args[0]);
	if (!c)
		return ctl_usage(err, "unknown object `%s`", o->args[0]);
	if (o->help) {
		ctl_print_help(o->ctl.out, c);
		return CTL_OK;
	}
	return c->fn(&o->ctl, o->args + 1, err);
}

static bool asks_for_help(const struct options *o)
{
	return !o->args[0] ? o->help : strcmp(o->args[0], "help") == 0;
}

int main(int argc, char **argv)
{
	struct options o = {.ctl.out = stdout};
	struct err err = ERR_INIT;
	enum ctl_exit status;

	(void)argc;
	signal(SIGPIPE, SIG_IGN);
	status = ctl_exit_status(options_parse(argv, &o, &err));
	o.ctl.out = stdout;
	if (status == CTL_OK && asks_for_help(&o))
		ctl_print_help(stdout, NULL);
	else if (status == CTL_OK && o.version)
		printf("weftctl %s\n", WEFT_VERSION);
	else if (status == CTL_OK)
		status = ctl_exit_status(run(&o, &err));
	if (err.text[0])
		print_error(&o.ctl, status, &err);
	return fflush(stdout) != 0 && status == CTL_OK ? CTL_FAILED : status;
}
