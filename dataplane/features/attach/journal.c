// SPDX-License-Identifier: Apache-2.0
#include "features/attach/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/log.h"
#include "features/attach/journal_read.h"
#include "json/jput.h"

#define GROWTH 4
#define GROWN_MIN (64u << 10) // bytes; a shorter file is not worth a rewrite
#define BAD_FILE_MAX (4 << 20)
#define BOOT_ID_MAX 37
#define HEADER_MAX 256

LOG_MODULE("journal");

struct copy {
	char path[PATH_MAX];
	int fd; // -1: not writable now
};

struct journal {
	struct journal_conf conf;
	struct copy disk, memory;
	char boot_id[BOOT_ID_MAX];
	uint64_t epoch, seq;      // of the line written next
	size_t bytes, base_bytes; // now, and after the last rewrite
	bool stale;
	char problem[256];
	struct buf *emit; // while snapshot runs
};

// An error of the memory copy costs only a safety net, so it is told once and not passed on.
static void memory_failed(struct journal *j, const char *what)
{
	cleanup_closep(&j->memory.fd);
	j->memory.fd = -1;
	LOG_WARN("second copy of the journal is not kept until the next rewrite", "path=%s why=%s",
		 j->memory.path, what);
}

static int failed(struct journal *j, struct err *err, int r, const char *what)
{
	j->stale = true;
	err_set(err, -r, "%s `%s`", what, j->disk.path);
	snprintf(j->problem, sizeof(j->problem), "%s: %s", what, strerror(-r));
	return r;
}

static int append(struct copy *c, const struct buf *line)
{
	return c->fd < 0 ? -EBADF : fdio_write_all(c->fd, line->data, line->len);
}

static int add_line(struct journal *j, const struct buf *line, bool sync, struct err *err)
{
	int r = append(&j->disk, line);

	if (r < 0) {
		// A line of which only a part was written would swallow the one after it.
		if (j->disk.fd >= 0)
			(void)!ftruncate(j->disk.fd, (off_t)j->bytes);
		return failed(j, err, r, "write");
	}
	if (sync && fdatasync(j->disk.fd) < 0)
		return failed(j, err, -errno, "sync");
	if (j->memory.fd >= 0) {
		r = append(&j->memory, line);
		if (r < 0)
			memory_failed(j, strerror(-r));
	}
	return 0;
}

static bool is_grown(const struct journal *j)
{
	return j->bytes > GROWN_MIN && j->bytes > j->base_bytes * GROWTH;
}

int journal_add(struct journal *j, const char *text, bool sync, struct err *err)
{
	_cleanup_(buf_fini) struct buf line = BUF_INIT(JOURNAL_LINE_MAX + 64);
	int r;

	if (j->stale || is_grown(j))
		return journal_rewrite(j, err);
	r = journal_line_format(&line, j->epoch, j->seq, text);
	if (r < 0)
		return failed(j, err, r, "format line for");
	r = add_line(j, &line, sync, err);
	if (r < 0)
		return r;
	j->seq++;
	j->bytes += line.len;
	return 0;
}

int journal_emit(struct journal *j, const char *text)
{
	return journal_line_format(j->emit, j->epoch, j->seq++, text);
}

static int emit_header(struct journal *j)
{
	char text[HEADER_MAX];

	snprintf(text, sizeof(text), "{\"journal\":%d,\"boot\":\"%s\"}", JOURNAL_VERSION,
		 j->boot_id);
	return journal_emit(j, text);
}

static int reopen(struct copy *c)
{
	cleanup_closep(&c->fd);
	c->fd = open(c->path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	return c->fd < 0 ? -errno : 0;
}

static int replace(struct journal *j, const struct buf *b, struct err *err)
{
	struct err memory = ERR_INIT;
	int r = fdio_replace_file(j->disk.path, b->data, b->len, 0600, err);

	if (r < 0)
		return failed(j, err, r, "write");
	r = reopen(&j->disk);
	if (r < 0)
		return failed(j, err, r, "open");
	r = fdio_replace_file(j->memory.path, b->data, b->len, 0600, &memory);
	if (r == 0)
		r = reopen(&j->memory);
	if (r < 0)
		memory_failed(j, strerror(-r));
	return 0;
}

int journal_rewrite(struct journal *j, struct err *err)
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(JOURNAL_FILE_MAX);
	int r;

	j->epoch++;
	j->seq = 0;
	j->emit = &b;
	r = emit_header(j);
	if (r == 0)
		r = j->conf.snapshot(j, j->conf.arg);
	j->emit = NULL;
	if (r < 0)
		return failed(j, err, r, "collect lines for");
	r = replace(j, &b, err);
	if (r < 0)
		return r;
	j->bytes = j->base_bytes = b.len;
	j->stale = false;
	j->problem[0] = '\0';
	return 0;
}

static void save_bad(const struct journal *j, const struct buf *bad)
{
	char path[PATH_MAX + 8];
	_close_ int fd = -1;
	struct stat st;

	snprintf(path, sizeof(path), "%s.bad", j->disk.path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BAD_FILE_MAX)
		return;
	(void)!fdio_write_all(fd, bad->data, bad->len);
}

static int parse_header(const struct journal *j, const struct journal_line *l, bool *ret_new_boot)
{
	const struct jlimits limits = {.bytes = HEADER_MAX, .depth = 2};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	const char *boot = "";
	struct jval root;
	int64_t version;

	if (jdoc_parse(l->text, l->len, &limits, &doc, NULL) < 0)
		return -EINVAL;
	root = jdoc_root(doc);
	if (jget_int(&root, "journal", JREQUIRED, (struct jrange){0, INT32_MAX}, &version, NULL) <
		    0 ||
	    jget_string(&root, "boot", JREQUIRED, &boot, NULL) < 0)
		return -EINVAL;
	*ret_new_boot = strcmp(boot, j->boot_id) != 0;
	return version == JOURNAL_VERSION ? 0 : -EPROTONOSUPPORT;
}

// Hands on what was read. A file of another version says nothing that can be relied on.
static void replay(struct journal *j, const struct journal_image *im, struct journal_report *rep)
{
	size_t i = 0;

	if (im->count > 0 && im->lines[0].seq == 0) {
		if (parse_header(j, &im->lines[0], &rep->new_boot) < 0) {
			rep->corrupt++;
			rep->damaged = true;
			return;
		}
		i = 1;
	}
	for (; i < im->count; i++) {
		const struct journal_line *l = &im->lines[i];

		if (j->conf.replay(l->text, l->len, j->conf.arg) < 0) {
			rep->corrupt++;
			rep->damaged = true;
		} else {
			rep->lines++;
		}
	}
}

static int init(struct journal *j, const struct journal_conf *conf, struct err *err)
{
	int n, m, r;

	*j = (struct journal){.conf = *conf, .disk.fd = -1, .memory.fd = -1, .stale = true};
	n = snprintf(j->disk.path, PATH_MAX, "%s/journal", conf->state_dir);
	m = snprintf(j->memory.path, PATH_MAX, "%s/journal", conf->run_dir);
	if (n >= PATH_MAX || m >= PATH_MAX)
		return err_set(err, ENAMETOOLONG, "journal in `%.64s`", conf->state_dir);
	r = clock_boot_id(j->boot_id);
	return r < 0 ? err_set(err, -r, "boot id") : 0;
}

int journal_open(const struct journal_conf *conf, struct journal_report *ret_report,
		 struct journal **ret_journal, struct err *err)
{
	_free_ struct journal *j = malloc(sizeof(*j));
	struct journal_image im;
	int r;

	if (!j)
		return err_set(err, ENOMEM, "journal");
	r = init(j, conf, err);
	if (r == 0)
		r = journal_read(conf, &im, ret_report, err);
	if (r < 0)
		return r;
	j->epoch = im.epoch;
	replay(j, &im, ret_report);
	if (im.bad.len > 0)
		save_bad(j, &im.bad);
	journal_image_fini(&im);
	*ret_journal = TAKE_PTR(j);
	return 0;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	cleanup_closep(&j->disk.fd);
	cleanup_closep(&j->memory.fd);
	free(j);
}

bool journal_is_stale(const struct journal *j)
{
	return j->stale;
}

const char *journal_problem(const struct journal *j)
{
	return j->problem;
}
