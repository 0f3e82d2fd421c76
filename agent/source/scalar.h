// SPDX-License-Identifier: Apache-2.0
// The type of a plain YAML scalar by the core schema of YAML 1.2 (section 10.3.2). Pure.
//
// Only null, true/false, integers and floats have a type; `yes`, `on`, `1:30` are strings.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scalar_type { SCALAR_NULL, SCALAR_BOOL, SCALAR_INT, SCALAR_UINT, SCALAR_FLOAT, SCALAR_STRING };

struct scalar {
	enum scalar_type type;
	union {
		bool boolean;
		int64_t integer;
		uint64_t natural; // SCALAR_UINT: beyond INT64_MAX
		double real;
	};
};

// text is NUL-terminated. Numbers that JSON cannot carry (.inf, .nan, 1e999) stay strings; an
// integer beyond 64 bits becomes a float.
struct scalar scalar_resolve(const char *text);
