// SPDX-License-Identifier: Apache-2.0
// Command line of weft-agent. Every option is checked here; what is unknown, incomplete or not
// supported is an error, never ignored.
//
//	r = config_parse(argc, argv, &config, err);
//
// Strings are borrowed from argv.
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"

#define CONFIG_RUN_DIR "/run/weft"
#define CONFIG_CNI_NAME "10-weft.conflist"

struct config {
	const char *node; // name of the own node
	const char *run_dir;
	const char *manifests;
	const char *cni_conf_dir; // NULL: no CNI configuration is written
	const char *cni_conf_name;
	const char *metrics, *health; // ADDR:PORT, or NULL
	enum log_level log_level;
	bool log_json;
	bool wants_help, wants_version; // then nothing else counts
};

extern const char config_usage[];

// 0, or -EINVAL.
int config_parse(int argc, char **argv, struct config *ret_config, struct err *err);
