// SPDX-License-Identifier: Apache-2.0
// The agent's objects: ops of `apply`, and the sync brackets that drop what was not repeated.
//
// One connection at a time is inside a sync. A line is decoded completely before anything of it is
// done. Control thread.
#pragma once

#include "main/control.h"

#define APPLY_OPS_MAX 500

control_fn apply_begin_sync, apply_ops, apply_end_sync;
// features/attach asks: is the pod there, and was the agent's list complete once?
bool apply_pod_is_known(const struct daemon *d, const char *ns, const char *name);
