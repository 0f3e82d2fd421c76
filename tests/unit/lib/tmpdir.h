// SPDX-License-Identifier: Apache-2.0
// A private folder per test, in the working directory while the test runs.
#pragma once

#include "harness/cm.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"

struct tmpdir {
	char path[PATH_MAX];
	char before[PATH_MAX]; // working directory to go back to
};

// cmocka set-up: makes the folder and enters it. *state is a struct tmpdir.
static UNUSED int tmpdir_setup(void **state)
{
	struct tmpdir *t = calloc(1, sizeof(*t));
	const char *base = getenv("TMPDIR");

	if (!t)
		return -1;
	snprintf(t->path, sizeof(t->path), "%s/weft-test-XXXXXX", base ? base : P_tmpdir);
	if (!getcwd(t->before, sizeof(t->before)) || !mkdtemp(t->path) || chdir(t->path) < 0) {
		free(t);
		return -1;
	}
	*state = t;
	return 0;
}

static UNUSED void tmpdir_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	char child[PATH_MAX];

	while (dir && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (snprintf(child, sizeof(child), "%s/%s", path, e->d_name) >= (int)sizeof(child))
			continue;
		if (e->d_type == DT_DIR) {
			tmpdir_empty(child);
			rmdir(child);
		} else {
			unlink(child);
		}
	}
	if (dir)
		closedir(dir);
}

// cmocka tear-down.
static UNUSED int tmpdir_teardown(void **state)
{
	struct tmpdir *t = *state;

	tmpdir_empty(t->path);
	int r = chdir(t->before) < 0 || rmdir(t->path) < 0 ? -1 : 0;
	free(t);
	return r;
}

// Number of entries of the working directory.
static UNUSED unsigned tmpdir_count(void)
{
	DIR *dir = opendir(".");
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2;
}

static UNUSED void tmpdir_write(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static UNUSED void tmpdir_assert_text(const char *name, const char *want)
{
	char text[256] = "";
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(text, want);
}
