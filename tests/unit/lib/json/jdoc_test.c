// SPDX-License-Identifier: Apache-2.0
// wrap: calloc
#include "harness/cm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "json/jget.h"

static bool no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return no_memory ? NULL : __real_calloc(count, size);
}

static const struct jlimits limits = {.bytes = 1 << 20, .depth = 3};

static void test_texts(void **state)
{
	static const struct {
		const char *in, *out; // NULL: refused
	} rows[] = {
		{"{}", "{}"},
		{" {} \r\n\t", "{}"},
		{"null", "null"},
		{"true", "true"},
		{"123", "123"},
		{"123 ", "123"},
		{"-0", "0"},
		{"\"a\"", "\"a\""},
		{"1.50", "1.50"},
		{"1E+2", "1E+2"},
		{"-1.5e-3", "-1.5e-3"},
		{"18446744073709551615", "18446744073709551615"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"{\"a\":1,\"a\":2}", "{\"a\":2}"},
		{"\"\\\\u0000\"", "\"\\\\u0000\""},
		{"\"it's \\\" '\"", "\"it's \\\" '\""},
		{"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
		{"[[[]]]", "[[[]]]"},
		{"[[[1,\"x\",null]]]", "[[[1,\"x\",null]]]"},
		{"{\"a\":{\"b\":{}}}", "{\"a\":{\"b\":{}}}"},
		// Too deep, with an empty and with a filled innermost container.
		{"[[[[]]]]", NULL},
		{"[[[[1]]]]", NULL},
		{"{\"a\":[{\"b\":{}}]}", NULL},
		// Not one document.
		{"", NULL},
		{" ", NULL},
		{"{} {}", NULL},
		{"{}x", NULL},
		{"12 13", NULL},
		{"12x", NULL},
		// Cut short.
		{"{", NULL},
		{"{\"a\"", NULL},
		{"{\"a\":", NULL},
		{"[1,", NULL},
		{"\"abc", NULL},
		{"\"abc\\", NULL},
		{"\"abc\\u00", NULL},
		{"tru", NULL},
		// Close to JSON.
		{"{'a':1}", NULL},
		{"{a:1}", NULL},
		{"{\"a\":1,}", NULL},
		{"[1,]", NULL},
		{"[1 2]", NULL},
		{"/* */ 1", NULL},
		{"1 // x", NULL},
		{"TRUE", NULL},
		{"NaN", NULL},
		{"[Infinity]", NULL},
		{"[-Infinity]", NULL},
		{"\"\\x\"", NULL},
		{"\"\\u12g4\"", NULL},
		// Numbers.
		{"01", NULL},
		{"-01", NULL},
		{"1.", NULL},
		{".5", NULL},
		{"+1", NULL},
		{"-", NULL},
		{"--1", NULL},
		{"1e", NULL},
		{"1e+", NULL},
		{"0x10", NULL},
		{"1e999", NULL},
		{"18446744073709551616", NULL},
		{"99999999999999999999999999", NULL},
		{"-9223372036854775809", NULL},
		// Bytes.
		{"\xef\xbb\xbf{}", NULL},
		{"\"a\nb\"", NULL},
		{"\"\x1f\"", NULL},
		{"\"\xff\"", NULL},
		{"\"\xc3", NULL},
		{"\"\xed\xa0\x80\"", NULL},
		{"\"a\\u0000b\"", NULL},
		{"{\"a\\u0000b\":1}", NULL},
		{"\"\\\\\\u0000\"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jdoc *doc = NULL;
		struct err err = ERR_INIT;
		int r = jdoc_parse(rows[i].in, strlen(rows[i].in), &limits, &doc, &err);
		if (r != (rows[i].out ? 0 : -EINVAL))
			fail_msg("`%s`: %d %s", rows[i].in, r, err.text);
		if (r < 0) {
			assert_null(doc);
			assert_memory_equal(err.text, "JSON text", 9);
			continue;
		}
		assert_string_equal(err.text, "");
		struct jval root = jdoc_root(doc);
		char *text = jval_text(&root);
		assert_string_equal(text, rows[i].out);
		assert_string_equal(root.path, "$");
		free(text);
		jdoc_freep(&doc);
		assert_null(doc);
	}
	jdoc_free(NULL);
}

// The text need not end in a NUL: read exactly len bytes (the sanitizer watches).
static void test_exact_length(void **state)
{
	static const char text[] = "{\"key\":[1,2.5,\"v\"]}";
	size_t full = sizeof(text) - 1;

	(void)state;
	for (size_t len = 0; len <= full; len++) {
		char *copy = malloc(len > 0 ? len : 1);
		struct jdoc *doc = NULL;
		memcpy(copy, text, len);
		int r = jdoc_parse(copy, len, &limits, &doc, NULL);
		free(copy);
		assert_int_equal(r, len == full ? 0 : -EINVAL);
		jdoc_free(doc);
	}
	struct jdoc *doc = NULL;
	assert_int_equal(jdoc_parse("123456", 3, &limits, &doc, NULL), 0);
	struct jval root = jdoc_root(doc);
	char *got = jval_text(&root);
	assert_string_equal(got, "123");
	free(got);
	jdoc_free(doc);
}

static void test_nul_bytes(void **state)
{
	static const char *const texts[] = {"{}\0", "\0{}", "{\0}", "\"a\0b\"", "1\0"};
	static const size_t sizes[] = {3, 3, 3, 5, 2};
	struct jdoc *doc = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_int_equal(jdoc_parse(texts[i], sizes[i], &limits, &doc, NULL), -EINVAL);
	assert_null(doc);
}

static void test_limits(void **state)
{
	struct jlimits tight = {.bytes = 4, .depth = 1};
	struct jdoc *doc = NULL;
	char deep[200];

	(void)state;
	assert_int_equal(jdoc_parse("[12]", 4, &tight, &doc, NULL), 0);
	jdoc_freep(&doc);
	assert_int_equal(jdoc_parse("[123]", 5, &tight, &doc, NULL), -EINVAL);
	tight.depth = 0;
	assert_int_equal(jdoc_parse("12", 2, &tight, &doc, NULL), 0);
	jdoc_freep(&doc);
	assert_int_equal(jdoc_parse("[]", 2, &tight, &doc, NULL), -EINVAL);
	// A limit beyond what the stack is meant for is lowered to 32.
	struct jlimits wide = {.bytes = SIZE_MAX, .depth = 1000};
	memset(deep, '[', 32);
	memset(deep + 32, ']', 32);
	assert_int_equal(jdoc_parse(deep, 64, &wide, &doc, NULL), 0);
	jdoc_freep(&doc);
	memset(deep, '[', 33);
	memset(deep + 33, ']', 33);
	assert_int_equal(jdoc_parse(deep, 66, &wide, &doc, NULL), -EINVAL);
	assert_int_equal(jdoc_parse(deep, (size_t)INT_MAX + 1, &wide, &doc, NULL), -EINVAL);
}

static void test_no_memory(void **state)
{
	struct jdoc *doc = NULL;
	struct err err = ERR_INIT;

	(void)state;
	no_memory = true;
	int r = jdoc_parse("{}", 2, &limits, &doc, &err);
	no_memory = false;
	assert_int_equal(r, -ENOMEM);
	assert_null(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),     cmocka_unit_test(test_exact_length),
		cmocka_unit_test(test_nul_bytes), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
