// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define REPLACEMENT "\xef\xbf\xbd" // U+FFFD

struct lead {
	uint8_t first, last, len, second_min, second_max;
};

// Lead bytes with the length they announce and the range of the second byte. The narrowed ranges
// are what keeps out overlong forms, surrogates and values beyond U+10FFFF (RFC 3629 section 4).
static const struct lead leads[] = {
	{0x00, 0x7f, 1, 0x00, 0x00}, {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
	{0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
	{0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static const struct lead *lead_of(uint8_t byte)
{
	for (size_t i = 0; i < ARRAY_LEN(leads); i++)
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	return NULL;
}

size_t utf8_seq(const char *s, size_t size)
{
	const uint8_t *u = (const uint8_t *)s;

	// Nearly all there is.
	if (size > 0 && u[0] < 0x80)
		return 1;
	const struct lead *lead = size > 0 ? lead_of(u[0]) : NULL;
	if (!lead || lead->len > size)
		return 0;
	if (u[1] < lead->second_min || u[1] > lead->second_max)
		return 0;
	for (size_t i = 2; i < lead->len; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return lead->len;
}

bool utf8_is_valid(const char *s, size_t size)
{
	for (size_t i = 0, n; i < size; i += n) {
		n = utf8_seq(s + i, size - i);
		if (n == 0)
			return false;
	}
	return true;
}

size_t utf8_cut(const char *s, size_t size)
{
	size_t start = size;

	// Step back to the lead byte of the last sequence, at most 3 continuations away.
	while (start > 0 && size - start < 3 && ((uint8_t)s[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0)
		return size;
	start--;
	const struct lead *lead = lead_of((uint8_t)s[start]);
	return lead && start + lead->len > size ? start : size;
}

char *utf8_repair(const char *s)
{
	size_t size = strlen(s);
	char *out = malloc(size * strlen(REPLACEMENT) + 1);
	size_t len = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < size;) {
		size_t n = utf8_seq(s + i, size - i);
		const char *from = n > 0 ? s + i : REPLACEMENT;
		size_t take = n > 0 ? n : strlen(REPLACEMENT);
		memcpy(out + len, from, take);
		len += take;
		i += n > 0 ? n : 1;
	}
	out[len] = '\0';
	return out;
}
