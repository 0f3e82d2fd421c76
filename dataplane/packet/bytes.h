// SPDX-License-Identifier: Apache-2.0
// Unaligned big-endian fields of a packet. The caller has checked the bounds. Pure functions.
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

// The field in host order.
static inline uint16_t bytes_get16(const uint8_t *at)
{
	uint16_t v;
	memcpy(&v, at, sizeof(v));
	return be16toh(v);
}

// The field in host order.
static inline uint32_t bytes_get32(const uint8_t *at)
{
	uint32_t v;
	memcpy(&v, at, sizeof(v));
	return be32toh(v);
}

// Writes a host order value.
static inline void bytes_put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

// Writes a host order value.
static inline void bytes_put32(uint8_t *at, uint32_t v)
{
	bytes_put16(at, v >> 16);
	bytes_put16(at + 2, v);
}

// A 16-bit field as it stands in the packet, which is how checksums are handled.
static inline uint16_t bytes_raw16(const uint8_t *at)
{
	uint16_t v;
	memcpy(&v, at, sizeof(v));
	return v;
}

// Writes a field as bytes_raw16 reads it.
static inline void bytes_set_raw16(uint8_t *at, uint16_t v)
{
	memcpy(at, &v, sizeof(v));
}
