// SPDX-License-Identifier: Apache-2.0
// wrap: calloc malloc
#include "harness/cm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "json/jget.h"
#include "json/jput.h"

static bool no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return no_memory ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

static void assert_text(struct jput *j, const char *want)
{
	char *got = jput_take(j);

	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void put_all(struct jput *j)
{
	static const struct ipaddr v4 = {{[10] = 0xff, 0xff, 10, 0, 0, 1}};
	static const struct ipprefix p = {.addr = {{0xfd}}, .len = 8};
	static const struct macaddr m = {{2, 0, 0, 0, 0, 0xab}};

	jput_string(j, "s", "a/b\"\n\xc3\xa9");
	jput_string(j, "none", NULL);
	jput_int(j, "i", INT64_MIN);
	jput_u64(j, "u", UINT64_MAX);
	jput_double(j, "d", 0.123456789);
	jput_double(j, "whole", 5);
	jput_double(j, "large", 1234567890123.0);
	jput_double(j, "nan", NAN);
	jput_double(j, "inf", -INFINITY);
	jput_bool(j, "t", true);
	jput_bool(j, "f", false);
	jput_null(j, "n");
	jput_ipaddr(j, "ip", &v4);
	jput_ipprefix(j, "px", &p);
	jput_mac(j, "mac", &m);
}

static void test_values(void **state)
{
	static const char want[] =
		"{\"s\":\"a/b\\\"\\n\xc3\xa9\",\"none\":null,\"i\":-9223372036854775808,"
		"\"u\":18446744073709551615,\"d\":0.123457,\"whole\":5,\"large\":1.23457e+12,"
		"\"nan\":null,\"inf\":null,\"t\":true,\"f\":false,\"n\":null,\"ip\":\"10.0.0.1\","
		"\"px\":\"fd00::/8\",\"mac\":\"02:00:00:00:00:ab\"}";
	struct jput *j = jput_new();

	(void)state;
	jput_object(j, NULL);
	put_all(j);
	jput_end(j);
	assert_text(j, want);
	// Empty again, and usable.
	assert_text(j, NULL);
	jput_int(j, NULL, 1);
	assert_text(j, "1");
	jput_null(j, NULL);
	assert_text(j, "null");
	jput_freep(&j);
	assert_null(j);
	jput_free(NULL);
}

static void test_nesting(void **state)
{
	struct jput *j = jput_new();

	(void)state;
	jput_object(j, NULL);
	jput_array(j, "a");
	jput_int(j, NULL, 1);
	jput_object(j, NULL);
	jput_bool(j, "x", true);
	jput_end(j);
	jput_array(j, NULL);
	jput_end(j);
	jput_null(j, NULL);
	jput_end(j);
	jput_object(j, "o");
	jput_end(j);
	jput_end(j);
	assert_text(j, "{\"a\":[1,{\"x\":true},[],null],\"o\":{}}");
	jput_free(j);
}

static void key_in_array(struct jput *j)
{
	jput_array(j, NULL);
	jput_int(j, "k", 1);
	jput_end(j);
}

static void no_key_in_object(struct jput *j)
{
	jput_object(j, NULL);
	jput_string(j, NULL, "x");
	jput_end(j);
}

static void key_at_root(struct jput *j)
{
	jput_object(j, "k");
	jput_end(j);
}

static void two_roots(struct jput *j)
{
	jput_int(j, NULL, 1);
	jput_int(j, NULL, 2);
}

static void not_closed(struct jput *j)
{
	jput_object(j, NULL);
}

static void closed_twice(struct jput *j)
{
	jput_object(j, NULL);
	jput_end(j);
	jput_end(j);
}

static void nothing(struct jput *j)
{
	(void)j;
}

static void too_deep(struct jput *j)
{
	for (int i = 0; i < 33; i++)
		jput_array(j, NULL);
	for (int i = 0; i < 33; i++)
		jput_end(j);
}

static void test_misuse(void **state)
{
	static void (*const rows[])(struct jput *) = {
		key_in_array, no_key_in_object, key_at_root, two_roots,
		not_closed,   closed_twice,     nothing,     too_deep,
	};
	struct jput *j = jput_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		rows[i](j);
		if (jput_take(j))
			fail_msg("row %zu", i);
		rows[i](j);
		if (jput_take_doc(j))
			fail_msg("row %zu", i);
		jput_bool(j, NULL, true);
		assert_text(j, "true");
	}
	jput_free(j);
}

static void test_deepest(void **state)
{
	struct jput *j = jput_new();

	(void)state;
	for (int i = 0; i < 32; i++)
		jput_array(j, NULL);
	jput_int(j, NULL, 1);
	for (int i = 0; i < 32; i++)
		jput_end(j);
	char *got = jput_take(j);
	assert_non_null(got);
	free(got);
	jput_free(j);
}

// What leaves must be JSON, whatever the kernel or a file system gave us.
static void test_bad_utf8(void **state)
{
	struct jput *j = jput_new();

	(void)state;
	jput_string(j, NULL, "a\xff\xe2\x82z");
	assert_text(j, "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
	jput_free(j);
}

static void test_copy_and_doc(void **state)
{
	static const char text[] = "{\"a\":[1.50,\"x\",{\"b\":null}],\"n\":null}";
	static const struct jlimits limits = {.bytes = 100, .depth = 5};
	struct jput *j = jput_new();
	struct jdoc *doc = NULL;
	struct jval v;

	(void)state;
	assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
	struct jval root = jdoc_root(doc);
	jput_array(j, NULL);
	jput_value(j, NULL, &root);
	assert_int_equal(jget(&root, "n", JOPTIONAL, &v, NULL), 0);
	jput_value(j, NULL, &v);
	jput_end(j);
	jdoc_freep(&doc); // the copy is deep
	doc = jput_take_doc(j);
	assert_non_null(doc);
	root = jdoc_root(doc);
	assert_int_equal(jarray_len(&root), 2);
	char *got = jval_text(&root);
	assert_string_equal(got, "[{\"a\":[1.50,\"x\",{\"b\":null}],\"n\":null},null]");
	free(got);
	jdoc_free(doc);
	assert_null(jput_take_doc(j));
	jput_null(j, NULL);
	doc = jput_take_doc(j);
	root = jdoc_root(doc);
	assert_true(jval_is_null(&root));
	jdoc_free(doc);
	jput_free(j);
}

static void test_no_writer(void **state)
{
	struct jval v = {0};

	(void)state;
	jput_object(NULL, NULL);
	jput_array(NULL, "a");
	put_all(NULL);
	jput_value(NULL, "v", &v);
	jput_end(NULL);
	assert_null(jput_take(NULL));
	assert_null(jput_take_doc(NULL));
}

static void test_no_memory(void **state)
{
	struct jput *j = jput_new();

	(void)state;
	no_memory = true;
	struct jput *none = jput_new();
	no_memory = false;
	assert_null(none);
	jput_object(j, NULL);
	no_memory = true;
	jput_string(j, "bad", "a\xff");
	no_memory = false;
	jput_end(j);
	assert_text(j, NULL);
	jput_int(j, NULL, 1);
	no_memory = true;
	struct jdoc *doc = jput_take_doc(j);
	no_memory = false;
	assert_null(doc);
	jput_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),    cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_misuse),    cmocka_unit_test(test_deepest),
		cmocka_unit_test(test_bad_utf8),  cmocka_unit_test(test_copy_and_doc),
		cmocka_unit_test(test_no_writer), cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
