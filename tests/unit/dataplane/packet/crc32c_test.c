// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "packet/crc32c.h"

// Bit by bit, from the polynomial.
static uint32_t reference(const uint8_t *at, size_t size)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < size; i++) {
		for (int bit = 0; bit < 8; bit++) {
			const uint32_t in = (crc ^ (at[i] >> bit)) & 1;

			crc = (crc >> 1) ^ (in ? 0x82f63b78u : 0);
		}
	}
	return ~crc;
}

static void test_known_values(void **state)
{
	uint8_t zeros[32] = {0}, ones[32];

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	// The check value of the catalogue, and two vectors of RFC 3720 B.4.
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(zeros, 32), 0x8a9136aa);
	assert_int_equal(crc32c(ones, 32), 0x62a8ab43);
	assert_int_equal(crc32c("", 0), 0);
}

static void test_every_size(void **state)
{
	uint8_t data[300];

	(void)state;
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 37 + 11);
	for (uint32_t size = 0; size < 290; size++)
		assert_int_equal(crc32c(data + size % 9, size), reference(data + size % 9, size));
}

static void test_sctp_field(void **state)
{
	uint8_t sctp[32] = {0x9c, 0x41, 0x1f, 0x90, 1, 2, 3, 4, 0xaa, 0xbb, 0xcc, 0xdd, 1};
	uint8_t clean[32];
	uint32_t crc;

	(void)state;
	crc32c_sctp(sctp, sizeof(sctp));
	memcpy(clean, sctp, sizeof(clean));
	memset(clean + 8, 0, 4);
	crc = reference(clean, sizeof(clean));
	// The least significant byte comes first (RFC 9260 appendix A).
	for (int i = 0; i < 4; i++)
		assert_int_equal(sctp[8 + i], (crc >> (8 * i)) & 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_sctp_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
