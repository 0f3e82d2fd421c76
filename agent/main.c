// SPDX-License-Identifier: Apache-2.0
// weft-agent: parse, build, run, tear down. Exit: 0 stopped by a signal, 1 failed, 2 usage.
#include <signal.h>
#include <stdio.h>

#include "agent.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "config.h"

LOG_MODULE("agent.main");

static int run(const struct config *config)
{
	struct agent *agent = NULL;
	struct err err = ERR_INIT;
	int r = agent_new(config, &agent, &err);

	if (r == 0)
		r = agent_run(agent, &err);
	agent_free(agent);
	if (r < 0)
		LOG_ERR("cannot go on", "reason=%s", err.text);
	return r < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct config config;
	struct err err = ERR_INIT;

	if (config_parse(argc, argv, &config, &err) < 0) {
		fprintf(stderr, "weft-agent: %s\nTry 'weft-agent --help'.\n", err.text);
		return 2;
	}
	if (config.wants_help || config.wants_version) {
		fputs(config.wants_help ? config_usage : "weft-agent " WEFT_VERSION "\n", stdout);
		return 0;
	}
	log_set_level(config.log_level);
	log_set_json(config.log_json);
	// A peer that hangs up is an error of that write, not the end of the program.
	signal(SIGPIPE, SIG_IGN);
	return run(&config);
}
