// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, size, seed);
}

void hash_strings_hex(const char *const *strings, size_t count, char out[33])
{
	XXH3_state_t state;

	XXH3_INITSTATE(&state);
	XXH3_128bits_reset(&state);
	for (size_t i = 0; i < count; i++)
		XXH3_128bits_update(&state, strings[i], strlen(strings[i]) + 1);
	XXH128_hash_t h = XXH3_128bits_digest(&state);
	snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.high64,
		 (unsigned long long)h.low64);
}
