// SPDX-License-Identifier: Apache-2.0
// The row of `get worker`: where a worker's time went since it started. Control thread.
#pragma once

#include "json/jput.h"

// Writes the row as an array element.
void worker_row(struct jput *j, unsigned worker);
