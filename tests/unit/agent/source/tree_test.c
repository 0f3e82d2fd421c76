// SPDX-License-Identifier: Apache-2.0
#include "unit/lib/tmpdir.h"

#include <errno.h>

#include "unit/agent/source/files.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "source/tree.h"

// What the hooks said, as text: "+a.yaml -b.yaml ", and the last trouble.
struct seen {
	struct event_base *base;
	struct tree *tree;
	struct buf text;
	struct err trouble;
	const char *wanted; // for loop_until: a part of text
	unsigned looks;
};

static void on_changed(void *arg, const char *path)
{
	assert_int_equal(buf_addf(&((struct seen *)arg)->text, "+%s ", path), 0);
}

static void on_gone(void *arg, const char *path)
{
	assert_int_equal(buf_addf(&((struct seen *)arg)->text, "-%s ", path), 0);
}

static void on_looked(void *arg, const struct err *trouble)
{
	struct seen *seen = arg;

	seen->looks++;
	seen->trouble = trouble ? *trouble : ERR_INIT;
}

static void seen_fini(struct seen *seen)
{
	tree_free(seen->tree);
	event_base_free(seen->base);
	buf_fini(&seen->text);
}

static struct seen *watch(struct seen *seen, const char *dir)
{
	struct tree_hooks hooks = {
		.changed = on_changed, .gone = on_gone, .looked = on_looked, .arg = seen};
	struct err err = ERR_INIT;

	*seen = (struct seen){.base = event_base_new(), .text = BUF_INIT(1 << 20)};
	assert_int_equal(tree_new(seen->base, dir, &hooks, &seen->tree, &err), 0);
	if (tree_start(seen->tree, &err) < 0)
		fail_msg("%s", err.text);
	return seen;
}

static const char *text_of(const struct seen *seen)
{
	return seen->text.data ? seen->text.data : "";
}

static bool has_text(void *arg)
{
	const struct seen *seen = arg;

	return strstr(text_of(seen), seen->wanted);
}

static bool has_trouble(void *arg)
{
	return ((struct seen *)arg)->trouble.text[0];
}

static bool has_no_trouble(void *arg)
{
	return !has_trouble(arg);
}

static void expect(struct seen *seen, const char *wanted)
{
	seen->wanted = wanted;
	loop_until(seen->base, has_text, seen);
}

static void forget(struct seen *seen)
{
	buf_consume(&seen->text, seen->text.len);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool is_manifest;
	} rows[] = {
		{"a.yaml", true},   {"a.yml", true},       {"a.json", true},
		{"a.b.yaml", true}, {".yaml", false},      {".a.yaml", false},
		{"a.yaml~", false}, {"a.yaml.tmp", false}, {"a.YAML", false},
		{"yaml", false},    {"#a.yaml#", false},   {"..data", false},
		{"", false},        {"a", false},          {".a.yaml.swp", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (tree_is_manifest(rows[i].name) != rows[i].is_manifest)
			fail_msg("%s", rows[i].name);
}

static void test_first_scan(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("m");
	make_dir("m/b");
	make_dir("m/b/c");
	make_dir("m/.hidden");
	make_dir("m/d.yaml"); // a folder in spite of its name
	file_write("m/z.yaml", "");
	file_write("m/a.json", "");
	file_write("m/b/x.yml", "");
	file_write("m/b/c/y.yaml", "");
	file_write("m/.hidden/y.yaml", "");
	file_write("m/d.yaml/y.yaml", "");
	file_write("m/readme.txt", "");
	file_write("m/z.yaml~", "");
	watch(&seen, "m/");
	assert_string_equal(text_of(&seen),
			    "+m/a.json +m/b/c/y.yaml +m/b/x.yml +m/d.yaml/y.yaml +m/z.yaml ");
	assert_int_equal(seen.looks, 1);
	assert_false(has_trouble(&seen));
}

static void test_missing_at_start(void **state)
{
	struct tree_hooks hooks = {
		.changed = on_changed, .gone = on_gone, .looked = on_looked, .arg = NULL};
	struct event_base *base = event_base_new();
	struct err err = ERR_INIT;
	struct tree *t = NULL;

	(void)state;
	assert_int_equal(tree_new(base, "nowhere", &hooks, &t, &err), 0);
	assert_int_equal(tree_start(t, &err), -ENOENT);
	assert_string_equal(err.text, "manifests folder `nowhere`: No such file or directory");
	tree_free(t);
	file_write("file", "");
	assert_int_equal(tree_new(base, "file", &hooks, &t, &err), 0);
	assert_int_equal(tree_start(t, &err), -ENOTDIR);
	tree_free(t);
	event_base_free(base);
	tree_free(NULL);
}

static void test_changes(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("m");
	watch(&seen, "m");
	file_write("m/a.yaml", "1");
	expect(&seen, "+m/a.yaml ");
	forget(&seen);
	// Same size, perhaps within the same tick of the file system's clock.
	file_write("m/a.yaml", "2");
	expect(&seen, "+m/a.yaml ");
	forget(&seen);
	file_replace("m/a.yaml", "3");
	expect(&seen, "+m/a.yaml ");
	assert_null(strstr(text_of(&seen), "-"));
	forget(&seen);
	assert_int_equal(link("m/a.yaml", "m/b.yaml"), 0);
	expect(&seen, "+m/b.yaml ");
	assert_int_equal(rename("m/a.yaml", "m/c.yaml"), 0);
	expect(&seen, "-m/a.yaml ");
	// The new name comes first: what both hold is never gone.
	assert_true(strstr(text_of(&seen), "+m/c.yaml ") < strstr(text_of(&seen), "-m/a.yaml "));
	assert_int_equal(unlink("m/b.yaml"), 0);
	expect(&seen, "-m/b.yaml ");
	forget(&seen);
	file_write("m/.a.yaml.swp", "");
	file_write("m/a.yaml~", "");
	file_write("m/4913", "");
	file_write("m/last.yaml", "");
	expect(&seen, "+m/last.yaml ");
	assert_string_equal(text_of(&seen), "+m/last.yaml ");
}

// A file that is still being written is not read.
static void test_open_writer(void **state)
{
	_cleanup_(seen_fini) struct seen seen;
	int fd;

	(void)state;
	make_dir("m");
	watch(&seen, "m");
	fd = open("m/a.yaml", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a", 1), 1);
	file_write("m/b.yaml", "");
	expect(&seen, "+m/b.yaml ");
	assert_null(strstr(text_of(&seen), "a.yaml"));
	assert_int_equal(write(fd, ": b", 3), 3);
	close(fd);
	expect(&seen, "+m/a.yaml ");
}

// Editors move the file aside and write a new one: that is a change, no removal.
static void test_replaced_in_steps(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", "1");
	watch(&seen, "m");
	forget(&seen);
	assert_int_equal(rename("m/a.yaml", "m/a.yaml~"), 0);
	file_write("m/a.yaml", "2");
	assert_int_equal(unlink("m/a.yaml~"), 0);
	expect(&seen, "+m/a.yaml ");
	loop_for(seen.base, TREE_QUIET_MAX_MS);
	assert_null(strstr(text_of(&seen), "-"));
}

static void test_folders(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("m");
	make_dir("aside");
	make_dir("aside/sub");
	file_write("aside/sub/x.yaml", "");
	watch(&seen, "m");
	make_dir("m/new");
	file_write("m/new/a.yaml", "");
	expect(&seen, "+m/new/a.yaml ");
	assert_int_equal(rename("aside/sub", "m/in"), 0);
	expect(&seen, "+m/in/x.yaml ");
	file_write("m/in/y.yaml", "");
	expect(&seen, "+m/in/y.yaml ");
	forget(&seen);
	assert_int_equal(rename("m/in", "m/moved"), 0);
	expect(&seen, "-m/in/y.yaml ");
	assert_non_null(strstr(text_of(&seen), "+m/moved/x.yaml "));
	// The watch has moved with the folder.
	file_write("m/moved/z.yaml", "");
	expect(&seen, "+m/moved/z.yaml ");
	forget(&seen);
	assert_int_equal(rename("m/moved", "aside/out"), 0);
	expect(&seen, "-m/moved/z.yaml ");
	assert_non_null(strstr(text_of(&seen), "-m/moved/x.yaml "));
	file_write("aside/out/z.yaml", "changed");
	file_write("m/last.yaml", "");
	expect(&seen, "+m/last.yaml ");
	assert_null(strstr(text_of(&seen), "+m/moved"));
}

// A mounted ConfigMap: files are links through ..data, which is switched by rename.
static void test_config_map(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("m");
	make_dir("m/..2026_1");
	file_write("m/..2026_1/a.yaml", "1");
	file_write("m/..2026_1/b.yaml", "1");
	assert_int_equal(symlink("..2026_1", "m/..data"), 0);
	assert_int_equal(symlink("..data/a.yaml", "m/a.yaml"), 0);
	assert_int_equal(symlink("..data/b.yaml", "m/b.yaml"), 0);
	watch(&seen, "m");
	assert_string_equal(text_of(&seen), "+m/a.yaml +m/b.yaml ");
	forget(&seen);
	make_dir("m/..2026_2");
	file_write("m/..2026_2/a.yaml", "2");
	assert_int_equal(symlink("..2026_2", "m/..data_tmp"), 0);
	assert_int_equal(rename("m/..data_tmp", "m/..data"), 0);
	assert_int_equal(unlink("m/b.yaml"), 0);
	expect(&seen, "-m/b.yaml ");
	assert_non_null(strstr(text_of(&seen), "+m/a.yaml "));
	forget(&seen);
	// The target is watched where it lies now.
	file_write("m/..2026_2/a.yaml", "3 longer");
	expect(&seen, "+m/a.yaml ");
}

static void test_links(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("v1");
	make_dir("v2");
	file_write("v1/a.yaml", "1");
	file_write("v2/a.yaml", "two");
	file_write("v2/b.yaml", "two");
	assert_int_equal(symlink("..", "v1/loop"), 0);
	assert_int_equal(symlink("nowhere", "v1/dangling.yaml"), 0);
	assert_int_equal(symlink("v1", "m"), 0);
	watch(&seen, "m");
	// The loop leads to the folder above, which holds the same folders again: each counts once.
	assert_non_null(strstr(text_of(&seen), "+m/a.yaml "));
	assert_null(strstr(text_of(&seen), "loop/v1/"));
	forget(&seen);
	assert_int_equal(symlink("v2", "m.new"), 0);
	assert_int_equal(rename("m.new", "m"), 0);
	expect(&seen, "+m/b.yaml ");
	assert_non_null(strstr(text_of(&seen), "+m/a.yaml "));
}

// The folder goes, file by file, and comes back with less in it.
static void test_root_removed(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("up");
	make_dir("up/m");
	file_write("up/m/a.yaml", "1");
	file_write("up/m/b.yaml", "1");
	watch(&seen, "up/m");
	forget(&seen);
	assert_int_equal(unlink("up/m/a.yaml"), 0);
	event_base_loop(seen.base, EVLOOP_NONBLOCK); // the removal is seen on its own
	assert_int_equal(unlink("up/m/b.yaml"), 0);
	assert_int_equal(rmdir("up/m"), 0);
	assert_int_equal(rmdir("up"), 0);
	loop_until(seen.base, has_trouble, &seen);
	assert_string_equal(seen.trouble.text,
			    "manifests folder `up/m`: No such file or directory");
	loop_for(seen.base, TREE_QUIET_MAX_MS);
	assert_string_equal(text_of(&seen), ""); // nothing is gone
	assert_true(has_trouble(&seen));
	make_dir("up");
	loop_for(seen.base, 1);
	make_dir("up/m.new");
	file_write("up/m.new/a.yaml", "two");
	assert_int_equal(rename("up/m.new", "up/m"), 0);
	expect(&seen, "-up/m/b.yaml ");
	assert_non_null(strstr(text_of(&seen), "+up/m/a.yaml "));
	loop_until(seen.base, has_no_trouble, &seen);
}

static void test_root_moved_away(void **state)
{
	_cleanup_(seen_fini) struct seen seen;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", "1");
	watch(&seen, "m");
	forget(&seen);
	assert_int_equal(rename("m", "old"), 0);
	loop_until(seen.base, has_trouble, &seen);
	file_write("old/a.yaml", "2");
	assert_int_equal(unlink("old/a.yaml"), 0);
	loop_for(seen.base, TREE_QUIET_MAX_MS);
	assert_string_equal(text_of(&seen), "");
	assert_int_equal(rename("old", "m"), 0);
	expect(&seen, "-m/a.yaml ");
}

static void test_too_deep(void **state)
{
	_cleanup_(seen_fini) struct seen seen;
	char path[256] = "m";

	(void)state;
	make_dir(path);
	for (int i = 0; i <= TREE_DEPTH_MAX; i++) {
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
		make_dir(path);
	}
	file_write("m/a.yaml", "");
	watch(&seen, "m");
	assert_string_equal(text_of(&seen), "+m/a.yaml ");
	assert_non_null(strstr(seen.trouble.text, "too deep, ignoring `m/d/d/"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		TEST(test_first_scan),
		TEST(test_missing_at_start),
		TEST(test_changes),
		TEST(test_open_writer),
		TEST(test_replaced_in_steps),
		TEST(test_folders),
		TEST(test_config_map),
		TEST(test_links),
		TEST(test_root_removed),
		TEST(test_root_moved_away),
		TEST(test_too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
