// SPDX-License-Identifier: Apache-2.0
// The running agent: source -> store -> compiler -> differ -> weftd, and what it tells about
// itself.
//
//	r = agent_new(&config, &agent, err);
//	r = agent_run(agent, err);      until SIGTERM or SIGINT
//	agent_free(agent);
//
// Everything runs in one thread on one event loop. Nothing is undone at the end: weftd keeps what
// it holds, and the CNI configuration stays.
#pragma once

#include "base/err.h"
#include "config.h"

struct agent;

// config is borrowed and must outlive the agent. 0 or -errno.
int agent_new(const struct config *config, struct agent **ret_agent, struct err *err);
int agent_run(struct agent *a, struct err *err);
void agent_free(struct agent *a);
