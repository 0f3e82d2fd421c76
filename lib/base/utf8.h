// SPDX-License-Identifier: Apache-2.0
// Just enough UTF-8 (RFC 3629) to keep text valid when it is cut, checked or copied. Pure
// functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Bytes of the well-formed sequence at s (1..4), or 0 where there is none within size bytes: a
// stray continuation, an overlong form, a surrogate, a value beyond U+10FFFF, or a sequence cut
// short.
size_t utf8_seq(const char *s, size_t size);
// True where all size bytes are well-formed sequences.
bool utf8_is_valid(const char *s, size_t size);
// Longest prefix of s of at most size bytes that does not end inside a sequence. s holds at least
// size bytes and may be anything.
size_t utf8_cut(const char *s, size_t size);
// Malloc'ed copy of s with U+FFFD in place of each byte that is not UTF-8. NULL when memory is
// short.
char *utf8_repair(const char *s);
