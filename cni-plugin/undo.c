// SPDX-License-Identifier: Apache-2.0
#include "undo.h"

#include <assert.h>

void undo_add(struct undo *undo, undo_fn *fn, void *arg)
{
	assert(undo->len < UNDO_MAX);
	undo->steps[undo->len].fn = fn;
	undo->steps[undo->len].arg = arg;
	undo->len++;
}

void undo_run_to(struct undo *undo, size_t mark)
{
	while (undo->len > mark) {
		undo->len--;
		undo->steps[undo->len].fn(undo->steps[undo->len].arg);
	}
}

void undo_run(struct undo *undo)
{
	undo_run_to(undo, 0);
}

void undo_forget(struct undo *undo)
{
	undo->len = 0;
}
