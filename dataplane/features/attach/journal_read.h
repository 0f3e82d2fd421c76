// SPDX-License-Identifier: Apache-2.0
// Reading the copies of a journal (journal.h) and merging them. No state; control thread, at start.
//
//	r = journal_read(conf, &image, &report, err);
//	for (size_t i = 0; i < image.count; i++) ... image.lines[i].text
//	journal_image_fini(&image);
//
// Nothing in the files is trusted: a line counts when its hash fits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "features/attach/journal.h"

#define JOURNAL_COPIES 2
#define JOURNAL_HASH_DIGITS 16

struct journal_line {
	uint64_t epoch, seq;
	const char *text; // JSON, in the image's buffers, not terminated
	size_t len;
};

struct journal_image {
	struct buf copies[JOURNAL_COPIES];
	struct journal_line *lines; // of the newest epoch, by sequence number, each once
	size_t count, cap;
	uint64_t epoch; // newest that was seen; 0 = none
	struct buf bad; // what was no valid line, for STATE_DIR/journal.bad
};

// Reads both copies; lines, corrupt, lost, fresh and damaged of the report are filled in. 0 or
// -errno.
int journal_read(const struct journal_conf *conf, struct journal_image *ret_image,
		 struct journal_report *ret_report, struct err *err);
void journal_image_fini(struct journal_image *image);
// Parses one line without its newline. 0, or -EINVAL.
int journal_line_parse(const char *data, size_t len, struct journal_line *ret_line);
// Appends a line with its hash and newline. 0 or -errno (-EMSGSIZE: longer than JOURNAL_LINE_MAX).
int journal_line_format(struct buf *b, uint64_t epoch, uint64_t seq, const char *text);
