// SPDX-License-Identifier: Apache-2.0
// Options of weftd: one table for the command line and the config file.
//
//	r = options_parse(argc, argv, &opts, err);
//
// The config file is read first and the command line wins; a list given there replaces the file's.
// All texts are checked here; an option that this release cannot honour is an error that names it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ipaddr.h"
#include "base/log.h"
#include "io/rx.h"

#define OPTIONS_PATH_MAX 96 // run-dir and state-dir: weftd.sock must fit a socket address
#define OPTIONS_NAME_MAX 64 // netns
#define OPTIONS_LIST_MAX 16

enum options_uplink {
	OPTIONS_UPLINK_AUTO,
	OPTIONS_UPLINK_NONE,
	OPTIONS_UPLINK_SHARE,
	OPTIONS_UPLINK_ETHDEV
};
enum options_routing { OPTIONS_ROUTING_VXLAN, OPTIONS_ROUTING_NATIVE, OPTIONS_ROUTING_AUTO };
enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION };

struct options_prefixes {
	size_t count;
	struct ipprefix list[OPTIONS_LIST_MAX];
};

struct options {
	enum options_action action;
	char config[4096];
	char run_dir[OPTIONS_PATH_MAX], state_dir[OPTIONS_PATH_MAX];
	char netns[OPTIONS_NAME_MAX], host_if[16];
	unsigned workers; // 0 = by the number of CPUs
	enum options_uplink uplink;
	char uplink_arg[256];             // of share: and ethdev:
	struct options_prefixes node_ips; // host prefixes
	struct options_prefixes pod_cidrs, service_cidrs, no_masquerade_to;
	enum options_routing routing;
	uint32_t vni;
	uint16_t vxlan_port;
	uint32_t mtu; // of pods, bytes; 0 = from the node's interface
	bool standalone, foreground, hugepages;
	enum rx_mode rx;
	char metrics[128];
	enum log_level log_level;
	bool log_json;
};

// Sets the defaults.
void options_init(struct options *o);
// Command line and config file. 0 or -EINVAL.
int options_parse(int argc, char *const *argv, struct options *ret_options, struct err *err);
// One option by its name without dashes; value is NULL or "" for a flag. 0, -ENOENT (no such
// option) or -EINVAL.
int options_set(struct options *o, const char *name, const char *value, struct err *err);
// True where the option takes no value; true where it is a list. False for unknown names.
bool options_is_flag(const char *name);
bool options_is_list(const char *name);
// Empties a list.
void options_clear(struct options *o, const char *name);
// Refuses what this release cannot do, and combinations that make no sense. 0 or -EINVAL.
int options_check(const struct options *o, struct err *err);
// Text of --help.
void options_usage(char *out, size_t size);
