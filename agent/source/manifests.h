// SPDX-License-Identifier: Apache-2.0
// The source that reads a folder of YAML and JSON manifests and follows its changes.
//
//	r = manifests_new(base, dir, &sink, &source, err);
//	r = source->ops->start(source, err);
//
// A file added, changed or removed acts like the API event. A file that cannot be parsed keeps its
// last good content; from a file in which single objects are refused the others count, and nothing
// it held before is taken away. Either way the problem has the file's path as scope and reads
// `manifest FILE:LINE:COLUMN: reason`, until the file is mended or removed. Objects of kinds the
// agent does not use are left out without a word. Limits: YAML_BYTES_MAX per file and those of
// source/tree.h.
#pragma once

#include <event2/event.h>

#include "source/source.h"

// base is borrowed, sink and dir are copied.
int manifests_new(struct event_base *base, const char *dir, const struct source_sink *sink,
		  struct source **ret_source, struct err *err);
