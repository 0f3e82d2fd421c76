// SPDX-License-Identifier: Apache-2.0
// The status document as text, and the document of a daemon that is not there.
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "json/jget.h"

// One "name value" line per key, then the problems with their hints. 0, -ENOMEM, -EIO, or -EINVAL
// where the document is no status.
int status_print(const struct jval *status, FILE *out, struct err *err);
// All keys of a status with state "down" and the one problem that why names; NULL when memory is
// short.
struct jdoc *status_down(const char *why);
