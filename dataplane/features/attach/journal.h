// SPDX-License-Identifier: Apache-2.0
// The journal: what must outlive the daemon, as checksummed lines appended to a file.
//
//	16 hex digits of a hash, epoch, sequence number, JSON text
//
// STATE_DIR/journal is synced to disk; RUN_DIR/journal is a second copy in memory (a tmpfs), which
// lives exactly as long as pods can. Both are read at start and merged line by line, so that a
// damaged line of one is healed by the other; a hole in the sequence that neither fills is
// reported. A new epoch begins with each rewrite (at start, when the file has grown to four times
// its size, and after a failure).
//
//	r = journal_open(&conf, &report, &j, err);  replays every line that is left, oldest first
//	r = journal_rewrite(j, err);                needed once before the first journal_add
//	r = journal_add(j, text, true, err);        after the change was made in memory
//
// After a failure the journal is stale: the next journal_add or journal_rewrite writes everything
// anew from snapshot, so a change that could not be written is not forgotten. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define JOURNAL_VERSION 1
#define JOURNAL_LINE_MAX (64u << 10) // bytes of one line
#define JOURNAL_FILE_MAX (64u << 20) // a longer file is set aside

struct journal;

struct journal_conf {
	const char *state_dir; // holds the copy on disk
	const char *run_dir;   // holds the copy in memory
	void *arg;             // of both functions
	// One line read back. Negative: the line makes no sense and is counted as corrupt.
	int (*replay)(const char *text, size_t len, void *arg);
	// Calls journal_emit for each line of the state as it is now. 0 or -errno.
	int (*snapshot)(struct journal *j, void *arg);
};

struct journal_report {
	bool fresh;       // there was nothing to read
	bool new_boot;    // written before the machine was started last
	bool damaged;     // lines may be missing
	unsigned lines;   // replayed
	unsigned corrupt; // lines that were set aside in STATE_DIR/journal.bad
	unsigned lost;    // sequence numbers that no copy has
};

// 0 or -errno. Damage is no failure; a path that is no plain file of ours is (-EINVAL).
int journal_open(const struct journal_conf *conf, struct journal_report *ret_report,
		 struct journal **ret_journal, struct err *err);
void journal_close(struct journal *j);
// Appends a line. sync: it is on disk on return. 0 or -errno (then the journal is stale).
int journal_add(struct journal *j, const char *text, bool sync, struct err *err);
// Writes the snapshot as a new file. 0 or -errno (then the journal is stale).
int journal_rewrite(struct journal *j, struct err *err);
// Only from snapshot. 0 or -errno.
int journal_emit(struct journal *j, const char *text);
bool journal_is_stale(const struct journal *j);
// Why the last write failed; "" when all is well.
const char *journal_problem(const struct journal *j);
