// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include "base/compiler.h"
#include "source/scalar.h"

static const struct {
	const char *text;
	enum scalar_type type;
	double value; // of numbers and booleans
} cases[] = {
	{"", SCALAR_NULL, 0},
	{"~", SCALAR_NULL, 0},
	{"null", SCALAR_NULL, 0},
	{"Null", SCALAR_NULL, 0},
	{"NULL", SCALAR_NULL, 0},
	{"nULL", SCALAR_STRING, 0},
	{"true", SCALAR_BOOL, 1},
	{"True", SCALAR_BOOL, 1},
	{"TRUE", SCALAR_BOOL, 1},
	{"false", SCALAR_BOOL, 0},
	{"False", SCALAR_BOOL, 0},
	{"FALSE", SCALAR_BOOL, 0},
	{"tRUE", SCALAR_STRING, 0},
	{"yes", SCALAR_STRING, 0},
	{"no", SCALAR_STRING, 0},
	{"on", SCALAR_STRING, 0},
	{"y", SCALAR_STRING, 0},
	{"0", SCALAR_INT, 0},
	{"12", SCALAR_INT, 12},
	{"-12", SCALAR_INT, -12},
	{"+12", SCALAR_INT, 12},
	{"0123", SCALAR_INT, 123},
	{"0o17", SCALAR_INT, 15},
	{"0o8", SCALAR_STRING, 0},
	{"0o", SCALAR_STRING, 0},
	{"0x1F", SCALAR_INT, 31},
	{"0x", SCALAR_STRING, 0},
	{"0xg", SCALAR_STRING, 0},
	{"-0x1", SCALAR_STRING, 0},
	{"1_000", SCALAR_STRING, 0},
	{"1:30", SCALAR_STRING, 0},
	{"9223372036854775807", SCALAR_INT, 9223372036854775807.0},
	{"-9223372036854775808", SCALAR_INT, -9223372036854775808.0},
	{"9223372036854775808", SCALAR_UINT, 9223372036854775808.0},
	{"18446744073709551615", SCALAR_UINT, 18446744073709551615.0},
	{"0xffffffffffffffff", SCALAR_UINT, 18446744073709551615.0},
	{"18446744073709551616", SCALAR_FLOAT, 18446744073709551616.0},
	{"-9223372036854775809", SCALAR_FLOAT, -9223372036854775808.0},
	{"0o7777777777777777777777777", SCALAR_STRING, 0},
	{"1.5", SCALAR_FLOAT, 1.5},
	{"-1.5", SCALAR_FLOAT, -1.5},
	{".5", SCALAR_FLOAT, 0.5},
	{"1.", SCALAR_FLOAT, 1},
	{"1e3", SCALAR_FLOAT, 1000},
	{"1E-3", SCALAR_FLOAT, 0.001},
	{"1e", SCALAR_STRING, 0},
	{"e3", SCALAR_STRING, 0},
	{".", SCALAR_STRING, 0},
	{"-", SCALAR_STRING, 0},
	{"+.", SCALAR_STRING, 0},
	{"1.2.3", SCALAR_STRING, 0},
	{"1e999", SCALAR_STRING, 0},
	{"-1e999", SCALAR_STRING, 0},
	{".inf", SCALAR_STRING, 0},
	{"-.inf", SCALAR_STRING, 0},
	{".nan", SCALAR_STRING, 0},
	{"nan", SCALAR_STRING, 0},
	{"infinity", SCALAR_STRING, 0},
	{"10.244.1.0/24", SCALAR_STRING, 0},
	{" 1", SCALAR_STRING, 0},
};

static double value_of(struct scalar s)
{
	switch (s.type) {
	case SCALAR_BOOL:
		return s.boolean;
	case SCALAR_INT:
		return (double)s.integer;
	case SCALAR_UINT:
		return (double)s.natural;
	case SCALAR_FLOAT:
		return s.real;
	case SCALAR_NULL:
	case SCALAR_STRING:
		break;
	}
	return 0;
}

static void test_resolve(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scalar s = scalar_resolve(cases[i].text);

		if (s.type != cases[i].type || value_of(s) != cases[i].value)
			fail_msg("`%s`: type %d value %g", cases[i].text, s.type, value_of(s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
