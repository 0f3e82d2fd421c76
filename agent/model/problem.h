// SPDX-License-Identifier: Apache-2.0
// A list of things an operator should know about, as `weftctl status` shows them.
//
//	_cleanup_(problem_list_fini) struct problem_list list = {0};
//	problem_add(&list, "mend the file", "manifest %s: %s", path, err.text);
//
// Texts are made safe for the socket when they are added: at most PROBLEM_TEXT_MAX bytes, control
// bytes and anything that is not UTF-8 become '?'. The list is capped: what comes after
// PROBLEM_LIST_MAX entries is only counted.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define PROBLEM_TEXT_MAX 512 // bytes, with the NUL
#define PROBLEM_LIST_MAX 32

struct problem {
	char *what; // what is wrong and where
	char *hint; // what to do about it
};

struct problem_list {
	struct problem at[PROBLEM_LIST_MAX];
	size_t count;
	size_t more; // added after the list was full, or while memory was short
};

// Formats what; hint is copied.
void problem_add(struct problem_list *list, const char *hint, const char *what_fmt, ...)
	PRINTF_FORMAT(3, 4);
void problem_list_fini(struct problem_list *list);
bool problem_list_is_equal(const struct problem_list *a, const struct problem_list *b);
// Replaces control bytes and invalid UTF-8 in text by '?', in place. Returns text.
char *problem_clean(char *text);
