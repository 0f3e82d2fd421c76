// SPDX-License-Identifier: Apache-2.0
#include "ctl.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "api/msg.h"
#include "base/cleanup.h"

const struct command *ctl_find_command(const char *name)
{
	for (size_t i = 0; ctl_commands[i]; i++)
		if (strcmp(ctl_commands[i]->name, name) == 0)
			return ctl_commands[i];
	return NULL;
}

static const char help_head[] =
	"usage: weftctl [--run-dir DIR] [-j] [-s] [-4|-6] OBJECT [VERB] [ARGS]\n"
	"\n"
	"  --run-dir DIR   folder of weftd's socket (default /run/weft)\n"
	"  -j              one JSON document\n"
	"  -s              all columns: counters, identifiers, meanings\n"
	"  -4, -6          only rows with an address of that family\n"
	"\n";

static const char help_tail[] =
	"\n"
	"exit status: 0 ok, 1 degraded or failed, 2 usage, 3 weftd cannot be reached\n";

static void print_command(FILE *out, const struct command *c)
{
	fprintf(out, "  %-14s %s\n", c->name, c->help);
	if (c->args[0])
		fprintf(out, "  %-14s   weftctl %s %s\n", "", c->name, c->args);
}

void ctl_print_help(FILE *out, const struct command *command)
{
	fputs(help_head, out);
	if (command)
		print_command(out, command);
	for (size_t i = 0; !command && ctl_commands[i]; i++)
		print_command(out, ctl_commands[i]);
	fputs(help_tail, out);
}

int ctl_usage(struct err *err, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(err, 0, "%s", text);
	return CTL_USAGE;
}

enum ctl_exit ctl_exit_status(int result)
{
	switch (result) {
	case CTL_OK:
	case CTL_USAGE:
		return (enum ctl_exit)result;
	case CTL_UNREACHABLE:
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ETIMEDOUT:
		return CTL_UNREACHABLE;
	default:
		return CTL_FAILED;
	}
}

struct jput *ctl_document(void)
{
	struct jput *j = jput_new();

	if (!j)
		return NULL;
	jput_object(j, NULL);
	jput_int(j, "api_version", API_VERSION);
	return j;
}

int ctl_print_document(const struct ctl *ctl, struct jput *document, struct err *err)
{
	_free_ char *text = document ? jput_take(document) : NULL;

	jput_free(document);
	if (!text)
		return err_set(err, ENOMEM, "build the document");
	if (fprintf(ctl->out, "%s\n", text) < 0 || fflush(ctl->out) != 0)
		return err_set(err, EIO, "write the document");
	return 0;
}
