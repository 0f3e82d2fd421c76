// SPDX-License-Identifier: Apache-2.0
// The daemon as a whole: what main/ builds, and what the request handlers reach.
//
//	r = daemon_open(&options, &d, err);
//	r = daemon_run(d);      until SIGTERM or SIGINT
//	daemon_close(d);        flushes and closes; pods' links, addresses and the namespace stay
//
// Control thread only.
#pragma once

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "features/attach/attach.h"
#include "features/attach/ipam.h"
#include "features/attach/spool.h"
#include "features/node/node.h"
#include "features/pod/pod.h"
#include "io/rx.h"
#include "main/hostnet.h"
#include "main/options.h"
#include "main/ports.h"
#include "main/server.h"
#include "netlink/monitor.h"

#define DAEMON_HOST_PORT 1 // port id of the host port

// What the agent told of itself, and where its sync stands.
struct daemon_agent {
	unsigned connections; // that said hello as weft-agent
	bool synced;          // as it reported
	bool synced_once;     // an end-sync came in this life of the daemon
	uint64_t sync_owner;  // connection between begin-sync and end-sync; 0 = none
	uint64_t generation;  // of the newest sync
	int64_t event_age_s;  // as reported; -1 = unknown
	uint64_t reported_ns;
	char *problems; // JSON array as reported, owned; NULL = none
};

// What is in force now (main/netconf.c).
struct daemon_net {
	size_t range_count, ip_count;
	struct ipprefix ranges[IPAM_RANGES_MAX];
	struct ipaddr ips[HOSTNET_IPS_MAX];
	uint32_t mtu;               // of pods, bytes
	bool stale;                 // is to be set again whatever it says
	char problem[ERR_TEXT_MAX]; // why part of it is not in force, "" = all well
};

struct daemon {
	struct options options;
	struct event_base *base;
	int locks[2]; // of the run-dir and the state-dir
	struct hostnet *hostnet;
	struct rx_group *rx;
	struct ports *ports;
	struct attach *attach;
	struct spool *spool;
	struct monitor *monitor;
	struct node_table *nodes;
	struct pod_table *pods;
	struct server *server;
	struct daemon_agent agent;
	struct daemon_net net;
	struct event *signals[2], *spool_event, *monitor_event, *rx_event;
	struct event *due, *reap, *service;  // timers
	uint64_t service_seen, service_idle; // packets at the last service, quiet rounds since
	unsigned reap_rounds;
	bool dpdk_runs, workers_run;
	uint64_t start_ns;
	uint64_t restarts;
	char node_name[256];
	char socket_path[OPTIONS_PATH_MAX + 16];
};

// Builds everything and opens the socket last. 0 or -errno with nothing left.
int daemon_open(const struct options *options, struct daemon **ret_daemon, struct err *err);
// Announces itself and serves until a signal. 0 or -errno.
int daemon_run(struct daemon *d, struct err *err);
// Takes a daemon down, also half built. NULL is nothing.
void daemon_close(struct daemon *d);

// Steps of daemon_open that need neither DPDK nor a socket, for tests: the namespace, the host port
// and receive; then tables, journal and pods. daemon_close takes them down as well. 0 or -errno.
int daemon_open_net(struct daemon *d, struct err *err);
int daemon_open_state(struct daemon *d, struct err *err);

// After anything that may have changed attachments or tables: sets the timers for what follows.
void daemon_rearm(struct daemon *d);
