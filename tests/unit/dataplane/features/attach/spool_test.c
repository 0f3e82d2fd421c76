// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/log.h"
#include "features/attach/spool.h"

struct box {
	char dir[64];
	struct spool *spool;
	char seen[1024];
};

static void on_entry(const struct attach_key *key, void *arg)
{
	struct box *b = arg;
	size_t len = strlen(b->seen);

	snprintf(b->seen + len, sizeof(b->seen) - len, "%s/%s/%s ", key->network, key->container_id,
		 key->ifname);
}

static int set_up(void **state)
{
	struct box *b = calloc(1, sizeof(*b));

	snprintf(b->dir, sizeof(b->dir), "/tmp/weft-spool-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	assert_int_equal(spool_open(b->dir, on_entry, b, &b->spool, NULL), 0);
	*state = b;
	return 0;
}

static void path_of(const struct box *b, const char *name, char out[512])
{
	snprintf(out, 512, "%s/spool/%s", b->dir, name);
}

static bool has(const struct box *b, const char *name)
{
	struct stat st;
	char path[512];

	path_of(b, name, path);
	return lstat(path, &st) == 0;
}

static void put(const struct box *b, const char *name, const char *text, size_t len)
{
	char path[512];

	path_of(b, name, path);
	assert_int_equal(fdio_replace_file(path, text, len, 0600, NULL), 0);
}

static void drop(const struct box *b, const char *name)
{
	char path[512];

	path_of(b, name, path);
	assert_int_equal(remove(path), 0);
}

static int tear_down(void **state)
{
	struct box *b = *state;
	char path[512];

	spool_close(b->spool);
	path_of(b, "", path);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(b->dir), 0);
	free(b);
	return 0;
}

#define GOOD "{\"network\":\"weft\",\"container_id\":\"c1\",\"ifname\":\"eth0\"}"

static void test_entries(void **state)
{
	struct box *b = *state;
	struct pollfd p = {.fd = spool_fd(b->spool), .events = POLLIN};

	spool_run(b->spool);
	assert_int_equal(poll(&p, 1, 0), 0);
	put(b, "a.json", GOOD, strlen(GOOD));
	assert_int_equal(poll(&p, 1, 2000), 1);
	spool_run(b->spool);
	assert_string_equal(b->seen, "weft/c1/eth0 ");
	assert_false(has(b, "a.json"));
	assert_int_equal(poll(&p, 1, 0), 0);
	spool_run(b->spool);
	assert_string_equal(b->seen, "weft/c1/eth0 ");
}

static void test_what_is_left_alone(void **state)
{
	static const char *const names[] = {"a.json.tmp", ".hidden.json", "json",
					    ".json",      "a.txt",        "b.json.bad"};
	struct box *b = *state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		put(b, names[i], GOOD, strlen(GOOD));
	spool_run(b->spool);
	assert_string_equal(b->seen, "");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		drop(b, names[i]);
}

#define TEXT(s)                  \
	{                        \
		s, sizeof(s) - 1 \
	}

static void test_garbage_is_set_aside(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		TEXT(""),
		TEXT("x"),
		TEXT("{}"),
		TEXT("[]"),
		TEXT("{\"network\":7,\"container_id\":\"c\",\"ifname\":\"e\"}"),
		TEXT("{\"network\":\"n\",\"container_id\":\"c\"}"),
		TEXT("\0\0\0\0"),
		TEXT("\xff\xfe{}"),
		TEXT(GOOD " trailing"),
	};
	struct box *b = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		put(b, "x.json", cases[i].text, cases[i].len);
		spool_run(b->spool);
		assert_false(has(b, "x.json"));
		drop(b, "x.json.bad");
	}
	assert_string_equal(b->seen, "");
}

static void test_strange_files(void **state)
{
	struct box *b = *state;
	_free_ char *big = malloc(1 << 20);
	char path[512];

	memset(big, ' ', 1 << 20);
	put(b, "big.json", big, 1 << 20);
	path_of(b, "link.json", path);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	path_of(b, "fifo.json", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	path_of(b, "dir.json", path);
	assert_int_equal(mkdir(path, 0700), 0);
	put(b, "good.json", GOOD, strlen(GOOD));
	spool_run(b->spool);
	assert_string_equal(b->seen, "weft/c1/eth0 ");
	drop(b, "big.json.bad");
	drop(b, "link.json.bad");
	drop(b, "fifo.json.bad");
	drop(b, "dir.json.bad");
}

static void test_open_fails(void **state)
{
	char longer[5000];
	struct spool *s = NULL;
	struct err err = ERR_INIT;

	(void)state;
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(spool_open(longer, on_entry, NULL, &s, &err), -ENAMETOOLONG);
	assert_true(spool_open("/proc/self/status", on_entry, NULL, &s, &err) < 0);
	assert_null(s);
	spool_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_garbage_is_set_aside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_strange_files, set_up, tear_down),
		cmocka_unit_test(test_open_fails),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
