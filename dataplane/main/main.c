// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "main/daemon.h"
#include "main/options.h"

LOG_MODULE("main");

static int show(const struct options *o)
{
	char text[4096];

	options_usage(text, sizeof(text));
	return printf("%s", o->action == OPTIONS_HELP ? text : "weftd " WEFT_VERSION "\n") < 0;
}

static int run(const struct options *o)
{
	struct err err = ERR_INIT;
	struct daemon *d;
	int r = daemon_open(o, &d, &err);

	if (r == 0) {
		r = daemon_run(d, &err);
		daemon_close(d);
	}
	if (r == 0)
		return EXIT_SUCCESS;
	LOG_ERR("weftd ends", "why=%s", err.text);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct options o;

	umask(077);
	if (options_parse(argc, argv, &o, &err) < 0) {
		fprintf(stderr, "weftd: %s\n", err.text);
		return 2;
	}
	if (o.action != OPTIONS_RUN)
		return show(&o);
	log_set_level(o.log_level);
	log_set_json(o.log_json);
	return run(&o);
}
