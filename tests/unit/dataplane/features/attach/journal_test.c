// SPDX-License-Identifier: Apache-2.0
// wrap: fdatasync clock_boot_id
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/log.h"
#include "features/attach/journal.h"
#include "features/attach/journal_read.h"

#define TEXT_MAX (64 << 10)

// The state behind the journal: a list of texts.
struct book {
	char dir[64], state[80], run[80];
	struct buf lines; // each with a newline
	struct journal *journal;
	struct journal_report report;
	const char *refuse; // replay calls a line with this text senseless
};

static int sync_error;
static const char *boot_id = "11111111-1111-1111-1111-111111111111";

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	if (sync_error) {
		errno = sync_error;
		return -1;
	}
	return __real_fdatasync(fd);
}

int __wrap_clock_boot_id(char out[37]);
int __wrap_clock_boot_id(char out[37])
{
	snprintf(out, 37, "%s", boot_id);
	return 0;
}

static int replay(const char *text, size_t len, void *arg)
{
	struct book *b = arg;

	if (b->refuse && memmem(text, len, b->refuse, strlen(b->refuse)))
		return -EINVAL;
	assert_int_equal(buf_add(&b->lines, text, len), 0);
	return buf_addf(&b->lines, "\n");
}

static int snapshot(struct journal *j, void *arg)
{
	const struct book *b = arg;
	const char *p = b->lines.data ? b->lines.data : "";

	while (*p) {
		char line[256];
		size_t len = strcspn(p, "\n");
		int r;

		snprintf(line, sizeof(line), "%.*s", (int)len, p);
		r = journal_emit(j, line);
		if (r < 0)
			return r;
		p += len + 1;
	}
	return 0;
}

static void book_init(struct book *b)
{
	*b = (struct book){.dir = "/tmp/weft-journal-XXXXXX", .lines = BUF_INIT(TEXT_MAX)};
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->state, sizeof(b->state), "%s/state", b->dir);
	snprintf(b->run, sizeof(b->run), "%s/run", b->dir);
	assert_int_equal(mkdir(b->state, 0700), 0);
	assert_int_equal(mkdir(b->run, 0700), 0);
	sync_error = 0;
}

static int book_open(struct book *b, struct err *err)
{
	const struct journal_conf conf = {.state_dir = b->state,
					  .run_dir = b->run,
					  .arg = b,
					  .replay = replay,
					  .snapshot = snapshot};

	buf_fini(&b->lines);
	b->lines = BUF_INIT(TEXT_MAX);
	return journal_open(&conf, &b->report, &b->journal, err);
}

// Opens again and returns what was read back.
static const char *book_read(struct book *b)
{
	journal_close(b->journal);
	b->journal = NULL;
	assert_int_equal(book_open(b, NULL), 0);
	return b->lines.data ? b->lines.data : "";
}

static void book_start(struct book *b)
{
	assert_int_equal(book_open(b, NULL), 0);
	assert_int_equal(journal_rewrite(b->journal, NULL), 0);
}

static int book_add(struct book *b, const char *text)
{
	(void)buf_addf(&b->lines, "%s\n", text);
	return journal_add(b->journal, text, true, NULL);
}

static void book_fini(struct book *b)
{
	static const char *const names[] = {"state/journal",
					    "state/journal.bad",
					    "state/journal.big",
					    "run/journal",
					    "state",
					    "run"};
	char path[128];

	journal_close(b->journal);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", b->dir, names[i]);
		(void)remove(path);
	}
	assert_int_equal(rmdir(b->dir), 0);
	buf_fini(&b->lines);
}

static void file_path(const struct book *b, const char *name, char out[128])
{
	snprintf(out, 128, "%s/%s", b->dir, name);
}

static void file_read(const struct book *b, const char *name, struct buf *out)
{
	char path[128];

	file_path(b, name, path);
	assert_int_equal(buf_read_file(out, path), 0);
}

static void file_write(const struct book *b, const char *name, const void *data, size_t size)
{
	char path[128];
	_close_ int fd = -1;

	file_path(b, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fdio_write_all(fd, data, size), 0);
}

static void file_remove(const struct book *b, const char *name)
{
	char path[128];

	file_path(b, name, path);
	assert_int_equal(unlink(path), 0);
}

static void test_round(void **state)
{
	struct book b;
	struct stat st;
	char path[128];

	(void)state;
	book_init(&b);
	book_start(&b);
	assert_true(b.report.fresh);
	assert_false(b.report.damaged);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_int_equal(book_add(&b, "{\"b\":2}"), 0);
	assert_string_equal(book_read(&b), "{\"a\":1}\n{\"b\":2}\n");
	assert_false(b.report.fresh || b.report.damaged || b.report.new_boot);
	assert_int_equal(b.report.lines, 2);
	file_path(&b, "state/journal", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	// Another boot is told.
	boot_id = "22222222-2222-2222-2222-222222222222";
	assert_string_equal(book_read(&b), "{\"a\":1}\n{\"b\":2}\n");
	assert_true(b.report.new_boot);
	boot_id = "11111111-1111-1111-1111-111111111111";
	book_fini(&b);
}

// Cut anywhere: what was completely written before the cut is read, and nothing else.
static void test_torn_at_each_byte(void **state)
{
	_cleanup_(buf_fini) struct buf whole = BUF_INIT(TEXT_MAX);
	struct book b;

	(void)state;
	book_init(&b);
	book_start(&b);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_int_equal(book_add(&b, "{\"b\":22}"), 0);
	file_read(&b, "state/journal", &whole);
	file_remove(&b, "run/journal");
	for (size_t cut = 0; cut <= whole.len; cut++) {
		unsigned complete = 0;
		const char *text;

		file_write(&b, "state/journal", whole.data, cut);
		text = book_read(&b);
		for (size_t i = 0; i < cut; i++)
			complete += whole.data[i] == '\n';
		// A line whose newline alone is missing is whole.
		if (cut < whole.len && whole.data[cut] == '\n' && cut > 0)
			complete++;
		assert_false(b.report.corrupt);
		assert_int_equal(b.report.lines, complete > 1 ? complete - 1 : 0);
		assert_int_equal(strncmp(text, "{\"a\":1}\n{\"b\":22}\n", strlen(text)), 0);
		assert_false(b.report.damaged);
	}
	book_fini(&b);
}

// One copy is damaged at every byte in turn: the other one heals it.
static void test_healed_by_the_other(void **state)
{
	static const char *const names[] = {"state/journal", "run/journal"};
	_cleanup_(buf_fini) struct buf whole = BUF_INIT(TEXT_MAX);
	struct book b;

	(void)state;
	book_init(&b);
	book_start(&b);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_int_equal(book_add(&b, "{\"b\":22}"), 0);
	file_read(&b, "state/journal", &whole);
	for (size_t i = 0; i < whole.len; i++) {
		for (size_t n = 0; n < ARRAY_LEN(names); n++) {
			whole.data[i] ^= 0x15;
			file_write(&b, names[n], whole.data, whole.len);
			assert_string_equal(book_read(&b), "{\"a\":1}\n{\"b\":22}\n");
			assert_false(b.report.damaged);
			whole.data[i] ^= 0x15;
			file_write(&b, names[n], whole.data, whole.len);
		}
	}
	book_fini(&b);
}

// Without the other copy the rest is used, and the damage is told and kept for inspection.
static void test_corrupt_line_is_set_aside(void **state)
{
	_cleanup_(buf_fini) struct buf whole = BUF_INIT(TEXT_MAX), bad = BUF_INIT(TEXT_MAX);
	struct book b;
	char *at;

	(void)state;
	book_init(&b);
	book_start(&b);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_int_equal(book_add(&b, "{\"b\":2}"), 0);
	assert_int_equal(book_add(&b, "{\"c\":3}"), 0);
	file_read(&b, "state/journal", &whole);
	file_remove(&b, "run/journal");
	at = strstr(whole.data, "{\"b\"");
	at[2] = 'x';
	file_write(&b, "state/journal", whole.data, whole.len);
	assert_string_equal(book_read(&b), "{\"a\":1}\n{\"c\":3}\n");
	assert_true(b.report.damaged);
	assert_int_equal(b.report.corrupt, 1);
	assert_int_equal(b.report.lost, 1);
	file_read(&b, "state/journal.bad", &bad);
	assert_non_null(strstr(bad.data, "{\"x\":2}"));
	// The last line corrupt leaves no hole in the numbers and is damage all the same.
	at = strstr(whole.data, "{\"c\"");
	at[2] = 'x';
	file_write(&b, "state/journal", whole.data, whole.len);
	(void)book_read(&b);
	assert_true(b.report.damaged);
	book_fini(&b);
}

static void test_hostile_files(void **state)
{
	static const char *const texts[] = {
		"\n",
		"\n\n\n\n",
		"{\"set\":{}}\n",
		"0000000000000000 1 1 {}\n",
		"ffffffffffffffff 99999999999999999999999999 1 {}\n",
		"-000000000000001 1 1 {}\n",
		"                 \n",
		"0123456789abcdef\n",
		"0123456789abcdef \n",
	};
	unsigned seed = 7;
	struct book b;

	(void)state;
	book_init(&b);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		file_write(&b, "state/journal", texts[i], strlen(texts[i]));
		assert_string_equal(book_read(&b), "");
	}
	for (int round = 0; round < 200; round++) {
		char noise[4096];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)rand_r(&seed);
		file_write(&b, "state/journal", noise, sizeof(noise) - (size_t)round);
		assert_string_equal(book_read(&b), "");
		assert_true(b.report.damaged);
		assert_false(b.report.fresh);
	}
	// Usable afterwards.
	assert_int_equal(journal_rewrite(b.journal, NULL), 0);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_string_equal(book_read(&b), "{\"a\":1}\n");
	assert_false(b.report.damaged);
	book_fini(&b);
}

static void test_long_line_and_file(void **state)
{
	_free_ char *big = malloc(JOURNAL_LINE_MAX * 2);
	struct book b;
	char path[128];

	(void)state;
	memset(big, 'x', JOURNAL_LINE_MAX * 2);
	big[JOURNAL_LINE_MAX * 2 - 1] = '\0';
	book_init(&b);
	book_start(&b);
	assert_int_equal(journal_add(b.journal, big, true, NULL), -EMSGSIZE);
	assert_true(journal_is_stale(b.journal));
	assert_int_equal(journal_add(b.journal, "two\nlines", true, NULL), 0); // a rewrite
	assert_int_equal(journal_add(b.journal, "two\nlines", true, NULL), -EINVAL);
	// A sparse file beyond every sense is moved away, not read.
	file_path(&b, "state/journal", path);
	assert_int_equal(truncate(path, (off_t)JOURNAL_FILE_MAX + 1), 0);
	file_remove(&b, "run/journal");
	assert_string_equal(book_read(&b), "");
	assert_true(b.report.damaged);
	file_path(&b, "state/journal.big", path);
	assert_int_equal(access(path, F_OK), 0);
	book_fini(&b);
}

static void test_planted_files(void **state)
{
	struct err err = ERR_INIT;
	struct book b;
	char path[128];

	(void)state;
	book_init(&b);
	file_path(&b, "state/journal", path);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_int_equal(book_open(&b, &err), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(book_open(&b, &err), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(book_open(&b, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no plain file"));
	assert_int_equal(rmdir(path), 0);
	book_fini(&b);
}

static void test_other_version(void **state)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(TEXT_MAX);
	struct book b;

	(void)state;
	book_init(&b);
	assert_int_equal(journal_line_format(&text, 5, 0, "{\"journal\":99,\"boot\":\"x\"}"), 0);
	assert_int_equal(journal_line_format(&text, 5, 1, "{\"set\":{}}"), 0);
	file_write(&b, "state/journal", text.data, text.len);
	assert_string_equal(book_read(&b), "");
	assert_true(b.report.damaged);
	// What is written next is newer than what was there.
	assert_int_equal(journal_rewrite(b.journal, NULL), 0);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_string_equal(book_read(&b), "{\"a\":1}\n");
	book_fini(&b);
}

// The disk says no: the change is kept in memory and written with the next chance.
static void test_sync_fails(void **state)
{
	struct book b;

	(void)state;
	book_init(&b);
	book_start(&b);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	sync_error = ENOSPC;
	assert_int_equal(book_add(&b, "{\"b\":2}"), -ENOSPC);
	assert_true(journal_is_stale(b.journal));
	assert_non_null(strstr(journal_problem(b.journal), "No space"));
	sync_error = 0;
	assert_int_equal(book_add(&b, "{\"c\":3}"), 0);
	assert_false(journal_is_stale(b.journal));
	assert_string_equal(journal_problem(b.journal), "");
	assert_string_equal(book_read(&b), "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
	book_fini(&b);
}

static void test_folder_is_gone(void **state)
{
	struct err err = ERR_INIT;
	struct book b;
	char gone[128];

	(void)state;
	book_init(&b);
	book_start(&b);
	file_path(&b, "gone", gone);
	assert_int_equal(rename(b.state, gone), 0);
	assert_int_equal(journal_rewrite(b.journal, &err), -ENOENT);
	assert_true(err.text[0]);
	assert_int_equal(journal_add(b.journal, "{}", true, NULL), -ENOENT);
	assert_int_equal(rename(gone, b.state), 0);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_string_equal(book_read(&b), "{\"a\":1}\n");
	book_fini(&b);
}

// The second copy is a help, not a need.
static void test_without_second_copy(void **state)
{
	struct book b;
	char gone[128];

	(void)state;
	book_init(&b);
	book_start(&b);
	file_path(&b, "gone", gone);
	assert_int_equal(rename(b.run, gone), 0);
	assert_int_equal(journal_rewrite(b.journal, NULL), 0);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_string_equal(book_read(&b), "{\"a\":1}\n");
	// An older second copy does not bring old lines back.
	assert_int_equal(rename(gone, b.run), 0);
	assert_string_equal(book_read(&b), "{\"a\":1}\n");
	book_fini(&b);
}

static void test_rewrites_when_grown(void **state)
{
	struct book b;
	struct stat st;
	char path[128], line[256];

	(void)state;
	book_init(&b);
	book_start(&b);
	file_path(&b, "state/journal", path);
	for (int i = 0; i < 3000; i++) {
		snprintf(line, sizeof(line), "{\"n\":%d,\"pad\":\"%0100d\"}", i, i);
		assert_int_equal(journal_add(b.journal, line, false, NULL), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size < 80 << 10);
	}
	book_fini(&b);
}

static void test_senseless_line(void **state)
{
	struct book b;

	(void)state;
	book_init(&b);
	book_start(&b);
	assert_int_equal(book_add(&b, "{\"a\":1}"), 0);
	assert_int_equal(book_add(&b, "{\"b\":2}"), 0);
	b.refuse = "\"a\"";
	assert_string_equal(book_read(&b), "{\"b\":2}\n");
	assert_true(b.report.damaged);
	assert_int_equal(b.report.corrupt, 1);
	book_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_torn_at_each_byte),
		cmocka_unit_test(test_healed_by_the_other),
		cmocka_unit_test(test_corrupt_line_is_set_aside),
		cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_long_line_and_file),
		cmocka_unit_test(test_planted_files),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_sync_fails),
		cmocka_unit_test(test_folder_is_gone),
		cmocka_unit_test(test_without_second_copy),
		cmocka_unit_test(test_rewrites_when_grown),
		cmocka_unit_test(test_senseless_line),
	};

	log_set_fd(open("/dev/null", O_WRONLY));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
