// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int open_null(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void test_scope_ends(void **state)
{
	int plain, stream, folder;

	(void)state;
	{
		_free_ char *text = strdup("x");
		_close_ int fd = plain = open_null();
		_fclose_ FILE *f = fopen("/dev/null", "r");
		_closedir_ DIR *d = opendir("/");
		assert_non_null(text);
		assert_non_null(f);
		assert_non_null(d);
		stream = fileno(f);
		folder = dirfd(d);
		assert_true(is_open(fd) && is_open(stream) && is_open(folder));
	}
	assert_false(is_open(plain));
	assert_false(is_open(stream));
	assert_false(is_open(folder));
}

static void test_empty_values(void **state)
{
	(void)state;
	_free_ char *text = NULL;
	_close_ int fd = -1;
	_fclose_ FILE *f = NULL;
	_closedir_ DIR *d = NULL;

	assert_null(text);
	assert_null(f);
	assert_null(d);
	assert_int_equal(fd, -1);
}

static void test_errno_is_kept(void **state)
{
	(void)state;
	errno = EXDEV;
	{
		// Closing what is not open fails.
		_close_ int fd = 1 << 20;
		(void)fd;
	}
	assert_int_equal(errno, EXDEV);
}

static void test_take(void **state)
{
	char *text;
	int fd;

	(void)state;
	{
		_free_ char *inner = strdup("kept");
		_close_ int inner_fd = open_null();
		text = TAKE_PTR(inner);
		fd = TAKE_FD(inner_fd);
		assert_null(inner);
		assert_int_equal(inner_fd, -1);
	}
	assert_string_equal(text, "kept");
	assert_true(is_open(fd));
	free(text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope_ends),
		cmocka_unit_test(test_empty_values),
		cmocka_unit_test(test_errno_is_kept),
		cmocka_unit_test(test_take),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
