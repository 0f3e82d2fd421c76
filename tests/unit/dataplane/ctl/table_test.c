// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "table.h"

static const struct table_column columns[] = {{"NAME", false}, {"N", true}, {"LAST", false}};

struct row {
	const char *name;
	const char *cells[10];
	const char *want;
};

static const struct row rows[] = {
	{"empty", {NULL}, "NAME  N  LAST\n"},
	{"aligned",
	 {"a", "1", "x", "longer", "100", "y", NULL},
	 "NAME      N  LAST\n"
	 "a         1  x\n"
	 "longer  100  y\n"},
	{"nothing is a dash", {"", "", "", NULL}, "NAME  N  LAST\n-     -  -\n"},
	{"controls", {"a\n\x1b[2J", "1", "\x7f", NULL}, "NAME    N  LAST\na??[2J  1  ?\n"},
	{"utf-8",
	 {"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", "1", "x", NULL},
	 "NAME   N  LAST\n\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc  1  x\n"},
	{"incomplete row", {"a", "1", "x", "b", NULL}, "NAME  N  LAST\na     1  x\n"},
};

static void prints_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(table_freep) struct table *t = table_new(columns, ARRAY_LEN(columns));
		_free_ char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		print_message("%s\n", rows[i].name);
		for (size_t c = 0; rows[i].cells[c]; c++)
			table_add(t, rows[i].cells[c]);
		assert_int_equal(table_print(t, out, NULL), 0);
		fclose(out);
		assert_string_equal(text, rows[i].want);
	}
}

static void grows(void **state)
{
	_cleanup_(table_freep) struct table *t = table_new(columns, ARRAY_LEN(columns));
	_free_ char *text = NULL;
	size_t size, lines = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	for (int i = 0; i < 3000; i++)
		table_add(t, "x");
	assert_int_equal(table_print(t, out, NULL), 0);
	fclose(out);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, 1001);
}

static void reports_a_full_disk(void **state)
{
	_cleanup_(table_freep) struct table *t = table_new(columns, ARRAY_LEN(columns));
	_fclose_ FILE *out = fopen("/dev/full", "w");
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(table_print(t, out, &err), -EIO);
	assert_int_equal(table_print(NULL, out, &err), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_rows),
		cmocka_unit_test(grows),
		cmocka_unit_test(reports_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
