// SPDX-License-Identifier: Apache-2.0
// CRC32c (Castagnoli) of SCTP packets (RFC 9260 appendix A). Pure functions, any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

// CRC32c over size bytes, as a number: crc32c("123456789") is 0xe3069283.
uint32_t crc32c(const void *data, size_t size);
// Writes the checksum of an SCTP packet (common header and chunks, at least 12 bytes) into it.
void crc32c_sctp(uint8_t *sctp, size_t size);
