// SPDX-License-Identifier: Apache-2.0
// The steps that are done, so that a failure can take them back in reverse order.
//
//	struct undo undo = {0};
//	undo_add(&undo, delete_link, &link);
//	...
//	if (r < 0) undo_run(&undo);        else undo_forget(&undo);
//
// Arguments are borrowed and must outlive the stack. One thread.
#pragma once

#include <stddef.h>

#define UNDO_MAX 8

// Takes one step back. It reports its own trouble: there is nobody else who could.
typedef void undo_fn(void *arg);

struct undo {
	struct {
		undo_fn *fn;
		void *arg;
	} steps[UNDO_MAX];
	size_t len;
};

// Call it right after the step succeeded; at most UNDO_MAX steps (asserted).
void undo_add(struct undo *undo, undo_fn *fn, void *arg);
// Runs all steps, last first, and empties the stack.
void undo_run(struct undo *undo);
// Runs the steps above mark (a former undo->len), last first.
void undo_run_to(struct undo *undo, size_t mark);
// Empties the stack without running anything: the whole is done.
void undo_forget(struct undo *undo);
