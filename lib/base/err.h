// SPDX-License-Identifier: Apache-2.0
// One error text on its way up to the person who reads it.
//
// A fallible function whose failure a human reads takes `struct err *err` last. It is set once,
// where the failure happens, naming the object; callers may put context in front; main prints it
// once.
//
//	if (fd < 0)
//		return err_set(err, errno, "open `%s`", path);
//	...
//	return err_wrap(err, r, "network `%s`", name);
//
// Success leaves *err alone. err may be NULL where the caller only wants the number.
// Not thread safe: an err belongs to one call chain.
#pragma once

#include <stdint.h>

#include "base/compiler.h"

#define ERR_TEXT_MAX 1024 // bytes, with the final NUL; longer text is cut

struct err {
	int err_no;              // positive errno, 0 where no system error stands behind it
	unsigned code;           // domain code for the reader (CNI error code), 0 = none chosen
	char text[ERR_TEXT_MAX]; // "context: object: strerror", empty = no error
};

#define ERR_INIT ((struct err){0})

// Sets the text (": " and strerror(err_no) appended when err_no > 0).
// Returns -err_no, or -EINVAL when err_no is 0, so that it can be returned directly.
int err_set(struct err *err, int err_no, const char *fmt, ...) PRINTF_FORMAT(3, 4);
// The same, with a domain code (CNI error code) for the reader.
int err_set_code(struct err *err, unsigned code, int err_no, const char *fmt, ...)
	PRINTF_FORMAT(4, 5);
// Puts "text: " in front of what is there (of strerror(-r) where nothing is). Returns r unchanged.
int err_wrap(struct err *err, int r, const char *fmt, ...) PRINTF_FORMAT(3, 4);
