// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "cell.h"

static const struct jlimits limits = {.bytes = 4096, .depth = 8};

struct row {
	const char *json;
	enum cell_kind kind;
	int family;
	const char *want;
};

static const struct row rows[] = {
	{"\"x\"", CELL_TEXT, AF_UNSPEC, "x"},
	{"7", CELL_TEXT, AF_UNSPEC, "7"},
	{"true", CELL_TEXT, AF_UNSPEC, "true"},
	{"null", CELL_TEXT, AF_UNSPEC, ""},
	{"{\"dst\":\"10.0.0.1\",\"n\":2}", CELL_TEXT, AF_UNSPEC, "dst=10.0.0.1,n=2"},
	{"18446744073709551615", CELL_COUNT, AF_UNSPEC, "18446744073709551615"},
	{"[\"10.0.0.1\",\"fd00::1\"]", CELL_ADDRS, AF_UNSPEC, "10.0.0.1,fd00::1"},
	{"[\"10.0.0.1\",\"fd00::1\"]", CELL_ADDRS, AF_INET, "10.0.0.1"},
	{"[\"10.0.0.1\",\"fd00::1\"]", CELL_ADDRS, AF_INET6, "fd00::1"},
	{"[\"fd00:1::/64\",3]", CELL_ADDRS, AF_INET6, "fd00:1::/64"},
	{"\"10.0.0.1\"", CELL_ADDRS, AF_UNSPEC, "10.0.0.1"},
	{"[]", CELL_ADDRS, AF_UNSPEC, ""},
	{"0", CELL_BYTES, AF_UNSPEC, "0B"},
	{"1023", CELL_BYTES, AF_UNSPEC, "1023B"},
	{"1536", CELL_BYTES, AF_UNSPEC, "1.5KiB"},
	{"125829120", CELL_BYTES, AF_UNSPEC, "120MiB"},
	{"18446744073709551615", CELL_BYTES, AF_UNSPEC, "16.0EiB"},
	{"0.1234", CELL_RATIO, AF_UNSPEC, "12.3%"},
	{"1", CELL_RATIO, AF_UNSPEC, "100.0%"},
	{"\"?\"", CELL_RATIO, AF_UNSPEC, "?"},
};

static void formats_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
		_cleanup_(buf_fini) struct buf out = BUF_INIT(256);
		char text[128];
		struct jval root, value;

		print_message("%s\n", rows[i].json);
		snprintf(text, sizeof(text), "{\"v\":%s}", rows[i].json);
		assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
		root = jdoc_root(doc);
		assert_int_equal(jget(&root, "v", JOPTIONAL, &value, NULL), 0);
		assert_int_equal(cell_format(rows[i].kind, &value, rows[i].family, &out), 0);
		assert_string_equal(out.data ? out.data : "", rows[i].want);
	}
}

static void tells_families(void **state)
{
	static const struct {
		const char *json;
		int family;
		bool want;
	} cases[] = {
		{"{\"v\":[\"10.0.0.1\"]}", AF_INET, true},
		{"{\"v\":[\"10.0.0.1\"]}", AF_INET6, false},
		{"{\"v\":[\"10.0.0.1\",\"fd00::1\"]}", AF_INET6, true},
		{"{\"v\":\"fd00::/64\"}", AF_INET6, true},
		{"{\"v\":[]}", AF_INET, false},
		{"{\"v\":[]}", AF_UNSPEC, true},
		{"{\"v\":[\"no address\"]}", AF_INET, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
		const char *text = cases[i].json;
		struct jval root, value;

		print_message("%s\n", text);
		assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
		root = jdoc_root(doc);
		assert_int_equal(jget(&root, "v", JREQUIRED, &value, NULL), 0);
		assert_int_equal(cell_has_family(&value, cases[i].family), cases[i].want);
	}
}

static void formats_ages(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *want;
	} cases[] = {
		{0, "0 s"},          {59, "59 s"},       {60, "1 min 0 s"}, {3599, "59 min 59 s"},
		{3600, "1 h 0 min"}, {90061, "1 d 1 h"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(buf_fini) struct buf out = BUF_INIT(64);

		assert_int_equal(cell_format_age(cases[i].seconds, &out), 0);
		assert_string_equal(out.data, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_values),
		cmocka_unit_test(tells_families),
		cmocka_unit_test(formats_ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
