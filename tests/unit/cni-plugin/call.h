// SPDX-License-Identifier: Apache-2.0
// One call of the plugin inside the test's process: environment, stdin, verb.
//
//	_free_ char *text = NULL;
//	struct err err = ERR_INIT;
//	r = call_verb("DEL", conf_text, &text, &err);
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdio.h"
#include "cm.h"
#include "cmd.h"

// Complete variables for an attachment in netns.
static inline void call_env(const char *netns)
{
	setenv("CNI_CONTAINERID", "c1", 1);
	setenv("CNI_IFNAME", "eth0", 1);
	setenv("CNI_NETNS", netns, 1);
	setenv("CNI_PATH", "/nonexistent", 1);
	unsetenv("CNI_ARGS");
}

static inline void call_stdin(const char *text)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fdio_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
}

// *ret_text is the caller's.
static inline int call_verb(const char *verb, const char *conf, char **ret_text, struct err *err)
{
	struct cmd_call call = {.start_ns = clock_now_ns()};
	int r;

	*ret_text = NULL;
	call_stdin(conf);
	r = cmd_run(&call, verb, ret_text, err);
	cmd_call_fini(&call);
	return r;
}
