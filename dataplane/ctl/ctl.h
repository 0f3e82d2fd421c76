// SPDX-License-Identifier: Apache-2.0
// What every command of weftctl gets and gives back.
//
// A command has one file, cmd_<object>.c, and one row in the table of commands.c:
//
//	static int cmd_x(const struct ctl *ctl, char *const *args, struct err *err);
//	const struct command cmd_x_command = {"x", "[show]", "what it shows", cmd_x};
//
// It writes its document or table to ctl->out and returns an exit status, or -errno with the text
// in err; main prints that text once. One thread.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "json/jput.h"

enum ctl_exit {
	CTL_OK = 0,
	CTL_FAILED = 1, // the command worked, what it shows is not well; or it failed
	CTL_USAGE = 2,
	CTL_UNREACHABLE = 3, // weftd does not answer
};

#define CTL_CALL_MS 5000 // bound of one request to weftd

struct ctl {
	const char *run_dir;
	bool json;  // one JSON document instead of text
	bool stats; // all columns
	int family; // AF_INET, AF_INET6 or AF_UNSPEC = both
	FILE *out;
};

struct command {
	const char *name, *args, *help;
	// args: what stands after the object's name, NULL at the end.
	int (*fn)(const struct ctl *ctl, char *const *args, struct err *err);
};

// All commands in the order of the help text; the last one has no name.
extern const struct command *const ctl_commands[];
// NULL where there is none of that name.
const struct command *ctl_find_command(const char *name);
// Help of weftctl, or of one object.
void ctl_print_help(FILE *out, const struct command *command);

// Sets the text of a wrong command line and returns CTL_USAGE.
int ctl_usage(struct err *err, const char *fmt, ...) PRINTF_FORMAT(2, 3);
// Exit status for what a command returned.
enum ctl_exit ctl_exit_status(int result);
// Opens the document object with its api_version; the caller fills and ends it.
struct jput *ctl_document(void);
// Prints the document and frees it. 0, -ENOMEM, or -EIO where nobody reads the output any more.
int ctl_print_document(const struct ctl *ctl, struct jput *document, struct err *err);
