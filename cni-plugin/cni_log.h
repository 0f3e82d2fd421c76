// SPDX-License-Identifier: Apache-2.0
// Where the plugin's log goes: the file that the config names, else stderr. Never stdout.
#pragma once

#include "cni_conf.h"

// Applies logFile and logLevel. Without a level a file gets info and stderr, which ends up in the
// runtime's own log, only warnings. What cannot be done is reported on stderr and is no error.
void cni_log_open(const struct cni_conf *conf);
