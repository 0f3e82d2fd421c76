// SPDX-License-Identifier: Apache-2.0
#include "unit/lib/tmpdir.h"

#include <errno.h>

#include "unit/agent/source/files.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "cniconf/conflist.h"
#include "json/jget.h"

#define FILE_NAME "10-weft.conflist"

struct world {
	struct event_base *base;
	struct conflist *conflist;
	struct err err; // of the last call of the hook
	char path[64];
};

static void on_trouble(void *arg, const struct err *err)
{
	((struct world *)arg)->err = err ? *err : ERR_INIT;
}

static void world_init(struct world *w, const char *dir)
{
	struct conflist_paths paths = {.dir = dir, .name = FILE_NAME, .run_dir = "/run/weft"};
	struct conflist_hooks hooks = {.trouble = on_trouble, .arg = w};
	struct err err = ERR_INIT;

	*w = (struct world){.base = event_base_new()};
	snprintf(w->path, sizeof(w->path), "%s/%s", dir, FILE_NAME);
	assert_int_equal(conflist_new(w->base, &paths, &hooks, &w->conflist, &err), 0);
}

static void world_fini(struct world *w)
{
	conflist_free(w->conflist);
	event_base_free(w->base);
}

// Does the file hold what it should?
static bool is_right(void *arg)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(1 << 16);
	_free_ char *want = conflist_text("/run/weft");
	struct world *w = arg;

	return buf_read_file(&text, w->path) == 0 && text.len > 0 && !strcmp(text.data, want);
}

static bool is_in_trouble(void *arg)
{
	return ((struct world *)arg)->err.text[0];
}

static void test_text(void **state)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	_free_ char *text = conflist_text("/run/a\"b");
	struct jlimits limits = {.bytes = 4096, .depth = 8};
	struct jval root, plugins, plugin;
	const char *run_dir = NULL;

	(void)state;
	assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, NULL), 0);
	root = jdoc_root(doc);
	assert_int_equal(jget_array(&root, "plugins", JREQUIRED, &plugins, NULL), 0);
	plugin = jarray_at(&plugins, 0);
	assert_int_equal(jget_string(&plugin, "runDir", JREQUIRED, &run_dir, NULL), 0);
	assert_string_equal(run_dir, "/run/a\"b");
}

static void test_install(void **state)
{
	_cleanup_(world_fini) struct world w;
	struct stat st, again;

	(void)state;
	world_init(&w, "etc/cni/net.d"); // made when missing
	loop_for(w.base, 20);
	assert_int_equal(access(w.path, F_OK), -1); // not before it is asked for
	conflist_install(w.conflist);
	assert_true(is_right(&w));
	assert_true(conflist_is_installed(w.conflist));
	assert_int_equal(stat(w.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	conflist_install(w.conflist);
	assert_int_equal(stat(w.path, &again), 0);
	assert_int_equal(again.st_ino, st.st_ino); // not written again
}

static void test_restored(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	world_init(&w, "net.d");
	conflist_install(w.conflist);
	assert_int_equal(unlink(w.path), 0);
	loop_until(w.base, is_right, &w);
	file_write(w.path, ""); // truncated
	loop_until(w.base, is_right, &w);
	assert_int_equal(rename(w.path, "net.d/away"), 0);
	loop_until(w.base, is_right, &w);
	assert_int_equal(rename("net.d", "gone"), 0);
	loop_until(w.base, is_right, &w);
	assert_int_equal(unlink(w.path), 0);
	loop_until(w.base, is_right, &w);
}

static void test_old_files(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("net.d");
	file_write("net.d/" FILE_NAME, "{\"cniVersion\":\"1.0.0\",\"na"); // a half-written one
	world_init(&w, "net.d");
	conflist_install(w.conflist);
	assert_true(is_right(&w));
	// An edit made later is somebody's intention.
	file_write(w.path, "{\"edited\":true}");
	loop_for(w.base, 50);
	assert_false(is_right(&w));
}

static void test_trouble(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	file_write("net.d", "a file in the way");
	world_init(&w, "net.d");
	conflist_install(w.conflist);
	assert_true(is_in_trouble(&w));
	assert_non_null(strstr(w.err.text, "net.d"));
	assert_false(conflist_is_installed(w.conflist));
	assert_int_equal(unlink("net.d"), 0);
	loop_until(w.base, is_right, &w);
	assert_false(is_in_trouble(&w));
}

static void test_bad_names(void **state)
{
	static const char *const names[] = {
		"", "weft", ".weft.conflist", "a/b.conflist", "weft.json", "../weft.conflist"};
	struct conflist_hooks hooks = {.trouble = on_trouble};
	struct event_base *base = event_base_new();
	struct conflist *c = NULL;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct conflist_paths paths = {.dir = ".", .name = names[i], .run_dir = "/r"};

		assert_int_equal(conflist_new(base, &paths, &hooks, &c, &err), -EINVAL);
	}
	event_base_free(base);
	conflist_free(NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),      TEST(test_install), TEST(test_restored),
		TEST(test_old_files), TEST(test_trouble), TEST(test_bad_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
