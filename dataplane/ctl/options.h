// SPDX-License-Identifier: Apache-2.0
// The part of the command line that all commands share.
//
//	r = options_parse(argv, &opts, err);      opts.args[0] is the object's name, if any
//
// The options may stand anywhere in front of "--"; what is left, in its order, is the object, its
// verb and its arguments. opts.args points into argv, which is rearranged.
#pragma once

#include "ctl.h"

struct options {
	struct ctl ctl; // out is left NULL
	bool help, version;
	bool only_ipv4, only_ipv6;
	char **args; // NULL at the end
};

// 0, or CTL_USAGE with the text in err. argv ends with NULL, argv[0] is skipped.
int options_parse(char **argv, struct options *ret_opts, struct err *err);

// An option of one command that takes a value: "--name VALUE" or "--name=VALUE".
struct option_value {
	const char *name;   // with its dashes
	const char **value; // where to put it
};

// Reads options of a command out of args; anything else is refused. 0 or CTL_USAGE.
int options_parse_values(char *const *args, const struct option_value *values, size_t count,
			 struct err *err);
