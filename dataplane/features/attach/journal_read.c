// SPDX-License-Identifier: Apache-2.0
#include "features/attach/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/hash.h"

#define HEAD_MAX (JOURNAL_HASH_DIGITS + 2 * 21 + 2) // hash, two numbers, their spaces, NUL
#define BAD_MAX (1u << 20)
#define BAD_LINE_MAX 4096u

int journal_line_format(struct buf *b, uint64_t epoch, uint64_t seq, const char *text)
{
	_cleanup_(buf_fini) struct buf line = BUF_INIT(JOURNAL_LINE_MAX);
	int r;

	r = buf_addf(&line, "%" PRIu64 " %" PRIu64 " %s", epoch, seq, text);
	if (r < 0)
		return r;
	if (memchr(line.data, '\n', line.len))
		return -EINVAL;
	return buf_addf(b, "%016" PRIx64 " %s\n", hash_bytes(line.data, line.len, JOURNAL_VERSION),
			line.data);
}

// Digits up to a space. The number of bytes read, with the space, or 0.
static size_t parse_number(const char *s, int base, uint64_t *ret)
{
	char *end;

	if (*s == ' ' || *s == '+' || *s == '-')
		return 0;
	errno = 0;
	*ret = strtoull(s, &end, base);
	return errno || end == s || *end != ' ' ? 0 : (size_t)(end - s) + 1;
}

int journal_line_parse(const char *data, size_t len, struct journal_line *ret_line)
{
	const size_t hashed = JOURNAL_HASH_DIGITS + 1;
	char head[HEAD_MAX];
	struct journal_line l;
	uint64_t hash;
	size_t n, m;

	if (len <= hashed || len > JOURNAL_LINE_MAX)
		return -EINVAL;
	// A terminated copy of what can hold the numbers; the text behind them may be cut here.
	snprintf(head, sizeof(head), "%.*s", (int)(len < HEAD_MAX - 1 ? len : HEAD_MAX - 1), data);
	if (parse_number(head, 16, &hash) != hashed ||
	    hash != hash_bytes(data + hashed, len - hashed, JOURNAL_VERSION))
		return -EINVAL;
	n = parse_number(head + hashed, 10, &l.epoch);
	m = n ? parse_number(head + hashed + n, 10, &l.seq) : 0;
	if (m == 0)
		return -EINVAL;
	l.text = data + hashed + n + m;
	l.len = len - (hashed + n + m);
	*ret_line = l;
	return 0;
}

// Moves a file that is too long to be a journal out of the way.
static int set_aside(const char *path, struct err *err)
{
	char aside[PATH_MAX + sizeof(".big")];

	snprintf(aside, sizeof(aside), "%s.big", path);
	if (rename(path, aside) < 0)
		return err_set(err, errno, "rename `%s`", path);
	return 1;
}

// 0, 1 = set aside, or -errno.
static int check_plain(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, errno, "stat `%s`", path);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return err_set(err, 0, "`%s` is no plain file of its own", path);
	return st.st_size > JOURNAL_FILE_MAX ? set_aside(path, err) : 0;
}

static int read_copy(const char *dir, struct buf *b, struct journal_report *rep, struct err *err)
{
	char path[PATH_MAX];
	_close_ int fd = -1;
	int r;

	if (snprintf(path, sizeof(path), "%s/journal", dir) >= (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "journal in `%.64s`", dir);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_set(err, errno, "open `%s`", path);
	r = check_plain(fd, path, err);
	rep->corrupt += r > 0;
	if (r != 0)
		return r;
	r = buf_read_fd(b, fd);
	return r < 0 ? err_set(err, -r, "read `%s`", path) : 0;
}

static int lines_push(struct journal_image *im, const struct journal_line *l)
{
	if (im->count == im->cap) {
		size_t cap = im->cap ? im->cap * 2 : 256;
		struct journal_line *lines = reallocarray(im->lines, cap, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		im->lines = lines;
		im->cap = cap;
	}
	im->lines[im->count++] = *l;
	return 0;
}

// Best effort: the file of bad lines is for a person's eyes and bounded.
static void keep_bad(struct journal_image *im, struct journal_report *rep, const char *data,
		     size_t len)
{
	rep->corrupt++;
	if (buf_add(&im->bad, data, len < BAD_LINE_MAX ? len : BAD_LINE_MAX) == 0)
		(void)buf_addf(&im->bad, "\n");
}

// The last line may be unfinished: its writer died and nobody was told that it was kept.
static int parse_copy(struct journal_image *im, const struct buf *b, struct journal_report *rep,
		      uint64_t *ret_epoch)
{
	const char *p = b->data, *end = b->data + b->len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		struct journal_line l;

		if (journal_line_parse(p, len, &l) == 0) {
			int r = lines_push(im, &l);
			if (r < 0)
				return r;
			if (l.epoch > *ret_epoch)
				*ret_epoch = l.epoch;
		} else if (nl && len > 0) {
			keep_bad(im, rep, p, len);
		}
		p += len + 1;
	}
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct journal_line *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

// Keeps the newest epoch, each number once; counts the holes.
static void merge(struct journal_image *im, struct journal_report *rep)
{
	uint64_t expected = 0;
	size_t kept = 0;

	if (im->count > 1)
		qsort(im->lines, im->count, sizeof(*im->lines), compare_lines);
	for (size_t i = 0; i < im->count && im->lines[i].epoch == im->epoch; i++) {
		const struct journal_line *l = &im->lines[i];

		if (kept > 0 && l->seq == im->lines[kept - 1].seq)
			continue;
		rep->lost += l->seq - expected < UINT_MAX / 2 ? (unsigned)(l->seq - expected) : 1;
		expected = l->seq + 1;
		im->lines[kept++] = *l;
	}
	im->count = kept;
}

// What one copy looked like.
struct copy {
	uint64_t epoch;
	bool clean; // nothing in it was corrupt
};

static int load_copy(const char *dir, int i, struct journal_image *im, struct journal_report *rep,
		     struct copy *ret, struct err *err)
{
	unsigned corrupt = rep->corrupt;
	struct buf *b = &im->copies[i];
	int r;

	*b = BUF_INIT(JOURNAL_FILE_MAX + 1);
	r = read_copy(dir, b, rep, err);
	if (r == 0 && b->len > 0) {
		r = parse_copy(im, b, rep, &ret->epoch);
		if (r < 0)
			err_set(err, -r, "journal in `%s`", dir);
	}
	ret->clean = rep->corrupt == corrupt;
	return r < 0 ? r : 0;
}

// Lines are surely there when the numbers have no hole and one copy of the newest epoch is whole: a
// corrupt line at the end of the only copy leaves no hole.
static bool is_damaged(const struct journal_image *im, const struct copy *copies,
		       const struct journal_report *rep)
{
	bool whole = rep->corrupt == 0;

	for (int i = 0; i < JOURNAL_COPIES; i++)
		whole |= copies[i].clean && copies[i].epoch == im->epoch && im->epoch > 0;
	return rep->lost > 0 || !whole;
}

int journal_read(const struct journal_conf *conf, struct journal_image *ret_image,
		 struct journal_report *ret_report, struct err *err)
{
	const char *const dirs[JOURNAL_COPIES] = {conf->state_dir, conf->run_dir};
	struct copy copies[JOURNAL_COPIES] = {0};
	struct journal_image *im = ret_image;
	int r = 0;

	*im = (struct journal_image){.bad = BUF_INIT(BAD_MAX)};
	*ret_report = (struct journal_report){0};
	for (int i = 0; i < JOURNAL_COPIES && r == 0; i++) {
		r = load_copy(dirs[i], i, im, ret_report, &copies[i], err);
		if (copies[i].epoch > im->epoch)
			im->epoch = copies[i].epoch;
	}
	if (r < 0) {
		journal_image_fini(im);
		return r;
	}
	merge(im, ret_report);
	ret_report->fresh = im->count == 0 && ret_report->corrupt == 0;
	ret_report->damaged = is_damaged(im, copies, ret_report);
	return 0;
}

void journal_image_fini(struct journal_image *image)
{
	for (int i = 0; i < JOURNAL_COPIES; i++)
		buf_fini(&image->copies[i]);
	buf_fini(&image->bad);
	free(image->lines);
	image->lines = NULL;
	image->count = image->cap = 0;
}
