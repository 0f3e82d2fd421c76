// SPDX-License-Identifier: Apache-2.0
// Stable hashes for names on disk and in the kernel (XXH3 from libxxhash, header only). Not for
// packet keys (packet/key.h) and not against an attacker who wants collisions: users salt and
// retry.
#pragma once

#include <stddef.h>
#include <stdint.h>

// 64-bit hash of size bytes; the same on every machine and in every release.
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
// Hex of a 128-bit hash over the strings, each ended by NUL so that {"ab","c"} != {"a","bc"}.
void hash_strings_hex(const char *const *strings, size_t count, char out[33]);
