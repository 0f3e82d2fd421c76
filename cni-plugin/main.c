// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "cmd.h"

// A descriptor below 3 that is free would be taken by the next file or socket, and our output
// would go there.
static void fill_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	cleanup_closep(&fd);
}

// Runtimes read stdout on failure and drop stderr then.
static int print(const char *text)
{
	int r = fdio_write_all(STDOUT_FILENO, text, strlen(text));

	if (r == 0)
		r = fdio_write_all(STDOUT_FILENO, "\n", 1);
	if (r < 0)
		fprintf(stderr, "weft: write to stdout: %s\n", strerror(-r));
	return r;
}

int main(void)
{
	struct cmd_call call = {.start_ns = clock_now_ns()};
	const char *command = getenv("CNI_COMMAND"), *text, *version = NULL;
	_free_ char *owned = NULL;
	struct err err = ERR_INIT;
	int r;

	fill_stdio();
	signal(SIGPIPE, SIG_IGN);
	if (!command || command[0] == 0) {
		fprintf(stderr, "CNI plugin weft %s\nCNI protocol versions supported: %s\n",
			WEFT_VERSION, cni_version_list());
		return 0;
	}
	r = cmd_run(&call, command, &owned, &err);
	if (call.conf.version_text && call.conf.version != CNI_VERSION_UNKNOWN)
		version = call.conf.version_text;
	text = r < 0 ? cni_error_text(r, &err, version, &owned) : owned;
	if (text && print(text) < 0)
		r = -EIO;
	cmd_call_fini(&call);
	return r < 0 ? 1 : 0;
}
