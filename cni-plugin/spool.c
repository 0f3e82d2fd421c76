// SPDX-License-Identifier: Apache-2.0
#include "spool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fdio.h"
#include "json/jput.h"

// Both formats are bounded: run_dir comes from a file of at most 4 MiB.
static int make_path(const char *run_dir, const struct attachment *a, char out[PATH_MAX])
{
	char hash[ATTACHMENT_HASH_MAX];
	int n = snprintf(out, PATH_MAX, "%s/spool/%s.json", run_dir, attachment_hash(a, hash));

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int make_folders(const char *run_dir, struct err *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/spool", run_dir);
	int r;

	if (n >= (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "spool in `%.64s`", run_dir);
	r = fdio_mkdir_private(run_dir, 0700, err);
	if (r == 0)
		r = fdio_mkdir_private(path, 0700, err);
	return r;
}

static char *make_text(const struct attachment *a)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_string(j, "network", a->network);
	jput_string(j, "container_id", a->container_id);
	jput_string(j, "ifname", a->ifname);
	jput_end(j);
	return jput_take(j);
}

int spool_write(const char *run_dir, const struct attachment *a, struct err *err)
{
	_free_ char *text = make_text(a);
	char path[PATH_MAX];
	int r;

	if (!text)
		return err_set(err, ENOMEM, "spool entry");
	r = make_folders(run_dir, err);
	if (r < 0)
		return r;
	if (make_path(run_dir, a, path) < 0)
		return err_set(err, ENAMETOOLONG, "spool in `%.64s`", run_dir);
	return fdio_replace_file(path, text, strlen(text), 0600, err);
}

bool spool_has(const char *run_dir, const struct attachment *a)
{
	char path[PATH_MAX];

	return make_path(run_dir, a, path) == 0 && access(path, F_OK) == 0;
}

int spool_remove(const char *run_dir, const struct attachment *a, struct err *err)
{
	char path[PATH_MAX];

	if (make_path(run_dir, a, path) < 0)
		return 0; // an entry with such a path was never written
	if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
		return err_set(err, errno, "remove `%s`", path);
	return 0;
}
