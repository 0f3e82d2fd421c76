// SPDX-License-Identifier: Apache-2.0
#include "unit/lib/tmpdir.h"

#include <errno.h>

#include "unit/agent/source/files.h"
#include "unit/agent/source/recorder.h"

#include "base/cleanup.h"
#include "source/manifests.h"

#define POD(name, node) "kind: Pod\nmetadata: {name: " name "}\nspec: {nodeName: " node "}\n---\n"

struct world {
	struct event_base *base;
	struct source *source;
	struct recorder rec;
	const char *key, *node; // for on_node
	size_t wanted;          // for has_problems
};

static void world_start(struct world *w)
{
	struct source_sink sink;
	struct err err = ERR_INIT;

	*w = (struct world){.base = event_base_new()};
	recorder_init(&w->rec);
	sink = recorder_sink(&w->rec);
	assert_int_equal(manifests_new(w->base, "m", &sink, &w->source, &err), 0);
	if (w->source->ops->start(w->source, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(w->rec.synced, 1);
}

static void world_fini(struct world *w)
{
	w->source->ops->stop(w->source);
	recorder_fini(&w->rec);
	event_base_free(w->base);
}

static bool on_node(void *arg)
{
	struct world *w = arg;

	return !strcmp(recorder_node(&w->rec, w->key), w->node);
}

// Waits until the pod runs on node; "" = until it is gone.
static void expect(struct world *w, const char *name, const char *node)
{
	char key[64];

	snprintf(key, sizeof(key), "pod/default/%s", name);
	w->key = key;
	w->node = node;
	loop_until(w->base, on_node, w);
}

static bool has_problems(void *arg)
{
	struct world *w = arg;

	return problems_len(w->rec.problems) == w->wanted;
}

// Waits for that number of problems, and for a part of their text.
static void expect_problems(struct world *w, size_t count, const char *part)
{
	_free_ char *text = NULL;

	w->wanted = count;
	loop_until(w->base, has_problems, w);
	text = recorder_problem_text(&w->rec);
	if (!strstr(text, part))
		fail_msg("%s", text);
}

static void test_add_change_remove(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", POD("a", "n1") POD("b", "n1"));
	world_start(&w);
	assert_int_equal(w.rec.sets, 2);
	file_write("m/c.json", "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"c\"},"
			       "\"spec\":{\"nodeName\":\"n1\"}}]}");
	expect(&w, "c", "n1");
	file_write("m/a.yaml", POD("a", "n2"));
	expect(&w, "b", "");
	expect(&w, "a", "n2");
	assert_int_equal(unlink("m/c.json"), 0);
	expect(&w, "c", "");
	assert_int_equal(problems_len(w.rec.problems), 0);
	assert_int_equal(w.rec.synced, 1);
}

static void test_broken_file(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", POD("a", "n1"));
	world_start(&w);
	file_write("m/a.yaml", POD("a", "n2") "x: [\n");
	expect_problems(&w, 1, "manifest m/a.yaml:6:1: ");
	expect(&w, "a", "n1");
	assert_int_equal(w.rec.dels, 0);
	file_write("m/a.yaml", POD("a", "n3"));
	expect(&w, "a", "n3");
	expect_problems(&w, 0, "[]");
	file_write("m/b.yaml", "\t");
	expect_problems(&w, 1, "manifest m/b.yaml:1:");
	assert_int_equal(unlink("m/b.yaml"), 0);
	expect_problems(&w, 0, "[]");
}

// One bad object does not hide the others; nothing is taken away until it is mended.
static void test_refused_object(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", POD("a", "n1") POD("b", "n1"));
	world_start(&w);
	file_write("m/a.yaml", POD("a", "n2") POD("-b", "n2"));
	expect(&w, "a", "n2");
	expect_problems(&w, 1, "manifest m/a.yaml:5:1: Pod -b: $.metadata.name: `-b`");
	expect(&w, "b", "n1");
	file_write("m/a.yaml", POD("a", "n2"));
	expect(&w, "b", "");
	expect_problems(&w, 0, "[]");
}

static void test_two_files(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", POD("a", "n1"));
	file_write("m/b.yaml", POD("a", "n2") POD("a", "n3"));
	world_start(&w);
	expect(&w, "a", "n3");
	expect_problems(&w, 2, "manifest m/b.yaml: pod/default/a also stands in m/a.yaml");
	expect_problems(&w, 2, "manifest m/b.yaml: pod/default/a stands twice");
	assert_int_equal(unlink("m/b.yaml"), 0);
	expect(&w, "a", "n1");
	expect_problems(&w, 0, "[]");
	assert_int_equal(w.rec.dels, 0);
}

static void test_renamed_file(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", POD("a", "n1"));
	world_start(&w);
	assert_int_equal(rename("m/a.yaml", "m/b.yaml"), 0);
	expect(&w, "a", "n1");
	file_write("m/b.yaml", POD("a", "n2"));
	expect(&w, "a", "n2");
	expect_problems(&w, 0, "[]");
	assert_int_equal(w.rec.dels, 0);
}

static void test_folder_gone(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	file_write("m/a.yaml", POD("a", "n1"));
	world_start(&w);
	assert_int_equal(rename("m", "away"), 0);
	expect_problems(&w, 1, "manifests folder `m`: No such file or directory");
	expect(&w, "a", "n1");
	file_write("away/a.yaml", POD("a", "n2"));
	assert_int_equal(rename("away", "m"), 0);
	expect(&w, "a", "n2");
	expect_problems(&w, 0, "[]");
}

static void test_unreadable(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	make_dir("m");
	make_dir("target.yaml");
	world_start(&w);
	// What cannot be a manifest is left alone; what can, but is too long, is told.
	assert_int_equal(mkfifo("m/fifo.yaml", 0600), 0);
	file_write("m/long.new", "");
	assert_int_equal(truncate("m/long.new", (4 << 20) + 1), 0);
	assert_int_equal(rename("m/long.new", "m/long.yaml"), 0);
	expect_problems(&w, 1, "manifest m/long.yaml:1:1: longer than 4194304 bytes");
}

static void test_missing_folder(void **state)
{
	struct event_base *base = event_base_new();
	struct source_sink sink = {0};
	struct source *source = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(manifests_new(base, "nowhere", &sink, &source, &err), 0);
	assert_int_equal(source->ops->start(source, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nowhere"));
	source->ops->stop(source);
	event_base_free(base);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_add_change_remove), TEST(test_broken_file),    TEST(test_refused_object),
		TEST(test_two_files),         TEST(test_renamed_file),   TEST(test_folder_gone),
		TEST(test_unreadable),        TEST(test_missing_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
