// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/utf8.h"

static void test_set(void **state)
{
	(void)state;
	struct err e = ERR_INIT;

	assert_int_equal(err_set(&e, ENOENT, "open `%s`", "x"), -ENOENT);
	assert_string_equal(e.text, "open `x`: No such file or directory");
	assert_int_equal(e.err_no, ENOENT);
	assert_int_equal(e.code, 0);

	assert_int_equal(err_set_code(&e, 7, 0, "bad %d", 3), -EINVAL);
	assert_string_equal(e.text, "bad 3");
	assert_int_equal(e.err_no, 0);
	assert_int_equal(e.code, 7);

	assert_int_equal(err_set_code(&e, 11, EAGAIN, "busy"), -EAGAIN);
	assert_string_equal(e.text, "busy: Resource temporarily unavailable");
	// A new error takes nothing over from the one before.
	assert_int_equal(err_set(&e, 0, "again"), -EINVAL);
	assert_int_equal(e.code, 0);
	assert_int_equal(e.err_no, 0);
}

static void test_without_err(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, EPERM, "x"), -EPERM);
	assert_int_equal(err_set(NULL, 0, "x"), -EINVAL);
	assert_int_equal(err_set_code(NULL, 1, EPERM, "x"), -EPERM);
	assert_int_equal(err_wrap(NULL, -5, "x"), -5);
}

static void test_wrap(void **state)
{
	(void)state;
	struct err e = ERR_INIT;

	err_set_code(&e, 8, ENOENT, "open");
	assert_int_equal(err_wrap(&e, -42, "network `%s`", "n"), -42);
	assert_string_equal(e.text, "network `n`: open: No such file or directory");
	assert_int_equal(e.code, 8);
	assert_int_equal(e.err_no, ENOENT);

	e = ERR_INIT;
	assert_int_equal(err_wrap(&e, -EPERM, "outer"), -EPERM);
	assert_string_equal(e.text, "outer: Operation not permitted");
	e = ERR_INIT;
	assert_int_equal(err_wrap(&e, 1, "outer"), 1);
	assert_string_equal(e.text, "outer");
}

static void test_arguments_inside_err(void **state)
{
	(void)state;
	struct err e = ERR_INIT;

	err_set(&e, 0, "first");
	err_set(&e, 0, "<%s>", e.text);
	assert_string_equal(e.text, "<first>");
	err_wrap(&e, 0, "(%s)", e.text);
	assert_string_equal(e.text, "(<first>): <first>");
}

// Every length around the limit, with characters of each size at the cut.
static void test_cut(void **state)
{
	static const char *const fills[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	char text[ERR_TEXT_MAX + 16];
	struct err e, inner;

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(fills); f++) {
		for (size_t pad = 0; pad < 4; pad++) {
			size_t len = 0;
			memset(text, 'x', pad);
			for (len = pad; len + 4 < sizeof(text); len += strlen(fills[f]))
				memcpy(text + len, fills[f], strlen(fills[f]));
			text[len] = '\0';
			err_set(&e, ENOENT, "%s", text);
			assert_in_range(strlen(e.text), ERR_TEXT_MAX - 4, ERR_TEXT_MAX - 1);
			assert_true(utf8_is_valid(e.text, strlen(e.text)));
			inner = e;
			err_wrap(&e, -1, "context");
			assert_in_range(strlen(e.text), ERR_TEXT_MAX - 4, ERR_TEXT_MAX - 1);
			assert_true(utf8_is_valid(e.text, strlen(e.text)));
			assert_memory_equal(e.text, "context: ", 9);
			assert_memory_equal(e.text + 9, inner.text, 1000);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),  cmocka_unit_test(test_without_err),
		cmocka_unit_test(test_wrap), cmocka_unit_test(test_arguments_inside_err),
		cmocka_unit_test(test_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
