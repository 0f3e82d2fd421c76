// SPDX-License-Identifier: Apache-2.0
// What is wrong with the daemon, for `get status` and `ready`. Control thread.
#pragma once

#include "json/jput.h"
#include "main/daemon.h"

// The one row of `get status`, as an array element.
void status_row(struct daemon *d, struct jput *j);
// Why an ADD would not work now, or NULL. Valid until the next call.
const char *status_not_ready(const struct daemon *d);
