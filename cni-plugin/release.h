// SPDX-License-Identifier: Apache-2.0
// Giving an attachment back, whether weftd is there or not.
#pragma once

#include <stdint.h>

#include "attachment.h"
#include "base/err.h"
#include "cni_conf.h"

// Tells weftd that the attachment is gone. Where weftd cannot be reached by deadline_ns, the link
// is removed here and an entry left in weftd's spool; where weftd answers with an error, the link
// is removed here too. An attachment that nobody knows is no error. 0, or -errno where something
// is left that a retry could still release.
int release_attachment(const struct cni_conf *conf, const struct attachment *a,
		       uint64_t deadline_ns, struct err *err);
