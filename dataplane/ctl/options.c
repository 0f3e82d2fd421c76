// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <string.h>
#include <sys/socket.h>

#define DEFAULT_RUN_DIR "/run/weft"

// Single letters, alone or together ("-js"). False: not an option of ours.
static bool parse_letters(const char *arg, struct options *o)
{
	if (arg[0] != '-' || !arg[1] || strspn(arg + 1, "js46h") != strlen(arg + 1))
		return false;
	for (const char *c = arg + 1; *c; c++) {
		if (*c == 'j')
			o->ctl.json = true;
		else if (*c == 's')
			o->ctl.stats = true;
		else if (*c == 'h')
			o->help = true;
		else if (*c == '4')
			o->only_ipv4 = true;
		else
			o->only_ipv6 = true;
	}
	return true;
}

static bool parse_flag(const char *arg, struct options *o)
{
	if (strcmp(arg, "--help") == 0)
		o->help = true;
	else if (strcmp(arg, "--version") == 0)
		o->version = true;
	else
		return parse_letters(arg, o);
	return true;
}

// "--name VALUE" and "--name=VALUE" at *args. Moves *args to the last word used. 1: it was this
// option, 0: another word, CTL_USAGE.
static int parse_value(char *const **args, const struct option_value *v, struct err *err)
{
	const char *arg = **args;
	size_t len = strlen(v->name);
	const char *value = NULL;

	if (strncmp(arg, v->name, len) != 0 || (arg[len] && arg[len] != '='))
		return 0;
	if (arg[len] == '=')
		value = arg + len + 1;
	else if ((*args)[1])
		value = *++*args;
	if (!value || !value[0])
		return ctl_usage(err, "%s needs a value", v->name);
	*v->value = value;
	return 1;
}

int options_parse(char **argv, struct options *ret_opts, struct err *err)
{
	struct options o = {.ctl.run_dir = DEFAULT_RUN_DIR, .args = argv};
	const struct option_value run_dir = {"--run-dir", &o.ctl.run_dir};
	char **kept = argv;
	bool more = true;

	for (char *const *arg = argv[0] ? argv + 1 : argv; *arg; arg++) {
		int r = more ? parse_value(&arg, &run_dir, err) : 0;

		if (r == CTL_USAGE)
			return r;
		if (r || (more && parse_flag(*arg, &o)))
			continue;
		if (more && strcmp(*arg, "--") == 0)
			more = false;
		else
			*kept++ = *arg;
	}
	*kept = NULL;
	if (o.only_ipv4 && o.only_ipv6)
		return ctl_usage(err, "-4 and -6 exclude each other");
	o.ctl.family = o.only_ipv4 ? AF_INET : o.only_ipv6 ? AF_INET6 : AF_UNSPEC;
	*ret_opts = o;
	return 0;
}

int options_parse_values(char *const *args, const struct option_value *values, size_t count,
			 struct err *err)
{
	for (char *const *arg = args; *arg; arg++) {
		int r = 0;

		for (size_t i = 0; i < count && r == 0; i++)
			r = parse_value(&arg, &values[i], err);
		if (r == 0)
			return ctl_usage(err, "unknown argument `%s`", *arg);
		if (r == CTL_USAGE)
			return r;
	}
	return 0;
}
