// SPDX-License-Identifier: Apache-2.0
// One manifest file, read and decoded in memory: what it holds and what is wrong with it.
//
//	_cleanup_(manifest_file_fini) struct manifest_file file = {0};
//	r = manifest_file_read(&file, path);
//
// No event loop, no state between files.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/object.h"
#include "model/problem.h"

struct manifest_file {
	struct object **objects; // in document order, one reference each
	size_t count, cap;
	struct problem_list problems;
	bool is_broken;   // not readable or no YAML: objects is empty
	bool has_refused; // some object was refused
};

enum manifest_file_result {
	MANIFEST_FILE_READ = 0, // perhaps with problems
	MANIFEST_FILE_GONE = 1, // no such file any more
};

// An enum manifest_file_result.
int manifest_file_read(struct manifest_file *file, const char *path);
// The same from memory; path is only named in problems.
void manifest_file_parse(struct manifest_file *file, const char *path, const char *text,
			 size_t len);
void manifest_file_fini(struct manifest_file *file);
