// SPDX-License-Identifier: Apache-2.0
// Tells the service manager that the daemon is ready or stopping (sd_notify's protocol, without its
// library). Best effort: nothing happens where NOTIFY_SOCKET is not set.
#pragma once

// state: "READY=1", "STOPPING=1". Control thread.
void notify_state(const char *state);
