// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/fdio.h"
#include "features/attach/journal_read.h"

static void test_line_round(void **state)
{
	static const struct {
		uint64_t epoch, seq;
		const char *text;
	} cases[] = {{1, 0, "{}"},
		     {UINT64_MAX, UINT64_MAX, "{\"a\":\"b c\"}"},
		     {7, 8, ""},
		     {0, 0, "x y z"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(buf_fini) struct buf b = BUF_INIT(4096);
		struct journal_line l;

		assert_int_equal(
			journal_line_format(&b, cases[i].epoch, cases[i].seq, cases[i].text), 0);
		assert_int_equal(journal_line_parse(b.data, b.len - 1, &l), 0);
		assert_true(l.epoch == cases[i].epoch && l.seq == cases[i].seq);
		assert_int_equal(l.len, strlen(cases[i].text));
		assert_memory_equal(l.text, cases[i].text, l.len);
		// Any changed byte and any shorter length are noticed.
		for (size_t k = 0; k + 1 < b.len; k++) {
			b.data[k] ^= 1;
			assert_int_equal(journal_line_parse(b.data, b.len - 1, &l), -EINVAL);
			b.data[k] ^= 1;
			assert_int_equal(journal_line_parse(b.data, k, &l), -EINVAL);
		}
	}
}

static void test_line_refused(void **state)
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(JOURNAL_LINE_MAX * 2);
	_free_ char *big = calloc(1, JOURNAL_LINE_MAX + 1);

	(void)state;
	memset(big, 'x', JOURNAL_LINE_MAX);
	assert_int_equal(journal_line_format(&b, 1, 1, big), -EMSGSIZE);
	assert_int_equal(journal_line_format(&b, 1, 1, "a\nb"), -EINVAL);
	assert_int_equal(b.len, 0);
}

struct dirs {
	char dir[64], state[80], run[80];
};

static void dirs_init(struct dirs *d)
{
	*d = (struct dirs){.dir = "/tmp/weft-read-XXXXXX"};
	assert_non_null(mkdtemp(d->dir));
	snprintf(d->state, sizeof(d->state), "%s/state", d->dir);
	snprintf(d->run, sizeof(d->run), "%s/run", d->dir);
	assert_int_equal(mkdir(d->state, 0700) | mkdir(d->run, 0700), 0);
}

static void dirs_fini(const struct dirs *d)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/journal", d->state);
	(void)unlink(path);
	snprintf(path, sizeof(path), "%s/journal", d->run);
	(void)unlink(path);
	assert_int_equal(rmdir(d->state) | rmdir(d->run) | rmdir(d->dir), 0);
}

// lines: "EPOCH SEQ" pairs, ended by 0 0.
static void put(const char *dir, const uint64_t (*lines)[2])
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(64 << 10);
	char path[128], text[32];

	for (; (*lines)[0]; lines++) {
		snprintf(text, sizeof(text), "%d.%d", (int)(*lines)[0], (int)(*lines)[1]);
		assert_int_equal(journal_line_format(&b, (*lines)[0], (*lines)[1], text), 0);
	}
	snprintf(path, sizeof(path), "%s/journal", dir);
	assert_int_equal(fdio_replace_file(path, b.data ? b.data : "", b.len, 0600, NULL), 0);
}

static void test_merge(void **state)
{
	static const struct {
		uint64_t disk[6][2], memory[6][2];
		const char *want;
		unsigned lost;
		bool damaged, fresh;
	} cases[] = {
		{{{0, 0}}, {{0, 0}}, "", 0, false, true},
		{{{1, 0}, {1, 1}}, {{0, 0}}, "1.0 1.1 ", 0, false, false},
		{{{0, 0}}, {{1, 0}, {1, 1}}, "1.0 1.1 ", 0, false, false},
		{{{1, 0}, {1, 2}}, {{1, 0}, {1, 1}}, "1.0 1.1 1.2 ", 0, false, false},
		{{{1, 1}, {1, 0}, {1, 1}}, {{0, 0}}, "1.0 1.1 ", 0, false, false},
		{{{2, 0}}, {{1, 0}, {1, 1}, {1, 2}}, "2.0 ", 0, false, false},
		{{{1, 0}, {1, 1}, {2, 0}}, {{0, 0}}, "2.0 ", 0, false, false},
		{{{1, 0}, {1, 3}}, {{1, 1}}, "1.0 1.1 1.3 ", 1, true, false},
		{{{1, 2}}, {{0, 0}}, "1.2 ", 2, true, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct journal_report rep;
		struct journal_image im;
		struct journal_conf conf;
		char got[128] = "";
		struct dirs d;

		dirs_init(&d);
		conf = (struct journal_conf){.state_dir = d.state, .run_dir = d.run};
		put(d.state, cases[i].disk);
		put(d.run, cases[i].memory);
		assert_int_equal(journal_read(&conf, &im, &rep, NULL), 0);
		for (size_t k = 0; k < im.count; k++) {
			strncat(got, im.lines[k].text, im.lines[k].len);
			strncat(got, " ", 2);
		}
		if (strcmp(got, cases[i].want) != 0 || rep.lost != cases[i].lost ||
		    rep.damaged != cases[i].damaged || rep.fresh != cases[i].fresh)
			fail_msg("case %zu: `%s` lost %u damaged %d fresh %d", i, got, rep.lost,
				 rep.damaged, rep.fresh);
		journal_image_fini(&im);
		dirs_fini(&d);
	}
}

static void test_unreadable(void **state)
{
	struct journal_conf conf = {.state_dir = "/proc/self/mem/x", .run_dir = "/tmp"};
	struct journal_report rep;
	struct journal_image im;
	struct err err = ERR_INIT;
	char longer[5000];

	(void)state;
	assert_int_equal(journal_read(&conf, &im, &rep, &err), -ENOTDIR);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	conf.state_dir = longer;
	assert_int_equal(journal_read(&conf, &im, &rep, &err), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_round),
		cmocka_unit_test(test_line_refused),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
