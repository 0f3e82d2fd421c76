// SPDX-License-Identifier: Apache-2.0
#include "packet/crc32c.h"

#include "packet/bytes.h"

#define SCTP_CSUM_AT 8

#ifdef __SSE4_2__
// The instruction of x86-64-v2.
static uint32_t add_word(uint32_t crc, const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return (uint32_t)__builtin_ia32_crc32di(crc, v);
}

static uint32_t add_byte(uint32_t crc, uint8_t byte)
{
	return __builtin_ia32_crc32qi(crc, byte);
}
#else
#define POLYNOMIAL 0x82f63b78u // reflected

static uint32_t add_byte(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int bit = 0; bit < 8; bit++)
		crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1)));
	return crc;
}

static uint32_t add_word(uint32_t crc, const uint8_t *at)
{
	for (int i = 0; i < 8; i++)
		crc = add_byte(crc, at[i]);
	return crc;
}
#endif

uint32_t crc32c(const void *data, size_t size)
{
	const uint8_t *at = data;
	uint32_t crc = ~0u;

	for (; size >= 8; size -= 8, at += 8)
		crc = add_word(crc, at);
	for (; size > 0; size--, at++)
		crc = add_byte(crc, *at);
	return ~crc;
}

void crc32c_sctp(uint8_t *sctp, size_t size)
{
	uint32_t crc;

	memset(sctp + SCTP_CSUM_AT, 0, sizeof(crc));
	crc = htole32(crc32c(sctp, size));
	memcpy(sctp + SCTP_CSUM_AT, &crc, sizeof(crc));
}
