// SPDX-License-Identifier: Apache-2.0
// HTTP endpoints for probes and metrics: /healthz (the agent's loop turns), /readyz (its source was
// read and weftd is in step) and /metrics (Prometheus text). GET and HEAD only, small requests, a
// time limit per connection.
//
//	r = health_new(base, "127.0.0.1:9641", &hooks, &h, err);
//
// No TLS and no authentication: bind it to a loopback or node address. One thread.
#pragma once

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

// One line of /metrics.
struct health_metric {
	const char *name, *help;
	bool is_counter; // else a gauge
	double value;
};

struct health_hooks {
	bool (*is_ready)(void *arg);
	// Calls put for each metric.
	void (*metrics)(void *arg, void (*put)(void *to, const struct health_metric *m), void *to);
	void *arg;
};

struct health;

// address: "1.2.3.4:PORT" or "[::1]:PORT". hooks are copied, base is borrowed. 0 or -errno.
int health_new(struct event_base *base, const char *address, const struct health_hooks *hooks,
	       struct health **ret_health, struct err *err);
void health_free(struct health *h);

#define HEALTH_HOST_MAX 64

// "ADDR:PORT" into its parts; an IPv6 address stands in brackets. 0 or -EINVAL.
int health_address_parse(const char *text, char ret_host[HEALTH_HOST_MAX], uint16_t *ret_port);
