// SPDX-License-Identifier: Apache-2.0
// wrap: read realloc
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "unit/lib/tmpdir.h"

static int eintr_left; // reads that are interrupted first
static size_t read_at_most = SIZE_MAX;
static bool no_memory;

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size)
{
	if (eintr_left > 0) {
		eintr_left--;
		errno = EINTR;
		return -1;
	}
	return __real_read(fd, data, size < read_at_most ? size : read_at_most);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return no_memory ? NULL : __real_realloc(p, size);
}

static void test_add(void **state)
{
	(void)state;
	_cleanup_(buf_fini) struct buf b = BUF_INIT(1000);

	assert_null(b.data);
	assert_int_equal(buf_add(&b, "", 0), 0);
	assert_string_equal(b.data, "");
	assert_int_equal(buf_add(&b, "abc", 3), 0);
	assert_int_equal(buf_addf(&b, "-%d-%s", 42, "x"), 0);
	assert_string_equal(b.data, "abc-42-x");
	assert_int_equal(b.len, 8);
}

static void test_bounds(void **state)
{
	char big[300];

	(void)state;
	memset(big, 'x', sizeof(big));
	// Each size up to, at and beyond the limit, from an empty and from a part-filled buffer.
	for (size_t max = 0; max < sizeof(big); max += 7) {
		for (size_t first = 0; first <= max; first += 5) {
			_cleanup_(buf_fini) struct buf b = BUF_INIT(max);
			assert_int_equal(buf_add(&b, big, first), 0);
			assert_int_equal(buf_add(&b, big, max - first + 1), -EMSGSIZE);
			assert_int_equal(b.len, first);
			assert_int_equal(buf_add(&b, big, SIZE_MAX), -EMSGSIZE);
			assert_int_equal(buf_add(&b, big, max - first), 0);
			assert_int_equal(b.len, max);
			assert_int_equal(strlen(b.data), max);
			assert_int_equal(buf_addf(&b, "y"), -EMSGSIZE);
			assert_int_equal(buf_addf(&b, "%s", ""), 0);
			assert_int_equal(b.len, max);
		}
	}
}

static void test_no_memory(void **state)
{
	(void)state;
	_cleanup_(buf_fini) struct buf b = BUF_INIT(1 << 20);

	assert_int_equal(buf_add(&b, "keep", 4), 0);
	no_memory = true;
	char *more = calloc(1, 4096);
	int add = buf_add(&b, more, 4096), addf = buf_addf(&b, "%4096d", 1);
	no_memory = false;
	free(more);
	assert_int_equal(add, -ENOMEM);
	assert_int_equal(addf, -ENOMEM);
	assert_string_equal(b.data, "keep");
}

static void test_consume(void **state)
{
	(void)state;
	_cleanup_(buf_fini) struct buf b = BUF_INIT(1 << 20);

	assert_int_equal(buf_add(&b, "abcdef", 6), 0);
	buf_consume(&b, 0);
	buf_consume(&b, 2);
	assert_string_equal(b.data, "cdef");
	buf_consume(&b, 4);
	assert_string_equal(b.data, "");
	assert_int_equal(b.len, 0);
	// A large one is given back when it is empty, and usable again.
	char *big = calloc(1, 200000);
	assert_int_equal(buf_add(&b, big, 200000), 0);
	free(big);
	buf_consume(&b, 200000);
	assert_null(b.data);
	assert_int_equal(b.cap, 0);
	assert_int_equal(buf_add(&b, "again", 5), 0);
	assert_string_equal(b.data, "again");
}

static void test_take(void **state)
{
	(void)state;
	struct buf b = BUF_INIT(100);

	char *empty = buf_take(&b);
	assert_string_equal(empty, "");
	free(empty);
	assert_int_equal(buf_add(&b, "text", 4), 0);
	char *text = buf_take(&b);
	assert_string_equal(text, "text");
	free(text);
	assert_null(b.data);
	assert_int_equal(b.max, 100);
}

static void test_read_some(void **state)
{
	(void)state;
	_cleanup_(buf_fini) struct buf b = BUF_INIT(6);
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(buf_read_some(&b, p[0]), -EAGAIN);
	assert_int_equal(write(p[1], "12345678", 8), 8);
	eintr_left = 2;
	assert_int_equal(buf_read_some(&b, p[0]), 6);
	assert_string_equal(b.data, "123456");
	// Full: nothing is taken from the pipe.
	assert_int_equal(buf_read_some(&b, p[0]), -EMSGSIZE);
	buf_consume(&b, 6);
	assert_int_equal(buf_read_some(&b, p[0]), 2);
	assert_string_equal(b.data, "78");
	close(p[1]);
	assert_int_equal(buf_read_some(&b, p[0]), 0);
	close(p[0]);
	assert_int_equal(buf_read_some(&b, p[0]), -EBADF);
}

static void test_read_fd_limits(void **state)
{
	static const struct {
		size_t size, max, chunk;
		int want;
	} rows[] = {
		{0, 10, SIZE_MAX, 0},          {10, 10, SIZE_MAX, 0},  {10, 10, 1, 0},
		{11, 10, SIZE_MAX, -EMSGSIZE}, {11, 10, 3, -EMSGSIZE}, {1, 0, SIZE_MAX, -EMSGSIZE},
		{0, 0, SIZE_MAX, 0},           {50000, 50000, 777, 0},
	};
	char data[50000];

	(void)state;
	memset(data, 'd', sizeof(data));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(buf_fini) struct buf b = BUF_INIT(rows[i].max);
		int p[2];
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		assert_int_equal(write(p[1], data, rows[i].size), rows[i].size);
		close(p[1]);
		read_at_most = rows[i].chunk;
		eintr_left = 1;
		int r = buf_read_fd(&b, p[0]);
		read_at_most = SIZE_MAX;
		eintr_left = 0;
		close(p[0]);
		if (r != rows[i].want || (r == 0 && b.len != rows[i].size))
			fail_msg("row %zu: %d, %zu bytes", i, r, b.len);
	}
}

static void test_read_file(void **state)
{
	(void)state;
	_cleanup_(buf_fini) struct buf b = BUF_INIT(100);

	tmpdir_write("f", "content\n");
	assert_int_equal(symlink("f", "link"), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(buf_read_file(&b, "link"), 0);
	assert_string_equal(b.data, "content\n");
	assert_int_equal(buf_read_file(&b, "absent"), -ENOENT);
	assert_int_equal(buf_read_file(&b, "."), -EINVAL);
	assert_int_equal(buf_read_file(&b, "fifo"), -EINVAL);
	assert_int_equal(buf_read_file(&b, "/dev/null"), -EINVAL);
	assert_int_equal(b.len, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_consume),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_read_some),
		cmocka_unit_test(test_read_fd_limits),
		cmocka_unit_test_setup_teardown(test_read_file, tmpdir_setup, tmpdir_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
