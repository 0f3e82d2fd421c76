// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "source/yaml.h"

struct docs {
	struct buf text; // the documents as JSON, joined by '|'
	size_t count;
	struct yaml_place last;
};

static int on_doc(void *arg, const struct jval *root, struct yaml_place at, struct err *err)
{
	struct docs *docs = arg;
	_free_ char *json = jval_text(root);

	(void)err;
	assert_non_null(json);
	assert_int_equal(buf_addf(&docs->text, "%s%s", docs->count++ ? "|" : "", json), 0);
	docs->last = at;
	return 0;
}

static void docs_fini(struct docs *docs)
{
	buf_fini(&docs->text);
}

#define DOCS_INIT ((struct docs){.text = BUF_INIT(16 << 20)})

static const struct {
	const char *yaml, *json;
} good[] = {
	{"", ""},
	{"# only a comment\n", ""},
	{"---\n---\n...\n", ""},
	{"~", ""},
	{"a: 1\nb: '1'\nc: \"1\"\nd: x\n", "{\"a\":1,\"b\":\"1\",\"c\":\"1\",\"d\":\"x\"}"},
	{"a: true\nb: 'true'\nc: yes\nd: ~\ne:\nf: null\ng: 'null'\n",
	 "{\"a\":true,\"b\":\"true\",\"c\":\"yes\",\"d\":null,\"e\":null,\"f\":null,\"g\":"
	 "\"null\"}"},
	{"a: 1.5\nb: .inf\nc: 18446744073709551615\nd: 0x10\n",
	 "{\"a\":1.5,\"b\":\".inf\",\"c\":18446744073709551615,\"d\":16}"},
	{"a: |\n  1\n  2\nb: >-\n  true\n", "{\"a\":\"1\\n2\\n\",\"b\":\"true\"}"},
	{"[]", "[]"},
	{"{}", "{}"},
	{"- a\n- [b, {c: d}]\n- - e\n", "[\"a\",[\"b\",{\"c\":\"d\"}],[\"e\"]]"},
	{"a: 1\n---\nb: 2\n...\n---\n- c\n", "{\"a\":1}|{\"b\":2}|[\"c\"]"},
	{"%YAML 1.1\n---\na: b\n", "{\"a\":\"b\"}"},
	{"\xef\xbb\xbf"
	 "a: b\n",
	 "{\"a\":\"b\"}"},
	{"a: \xc3\xa4\n", "{\"a\":\"\xc3\xa4\"}"},
	{"a: \"\\u00e4\\n\"\n", "{\"a\":\"\xc3\xa4\\n\"}"},
	{"1: a\ntrue: b\n~: c\n? d\n: e\n", "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"d\":\"e\"}"},
	{"a: !!str 1\nb: !!int '2'\nc: !!map {}\nd: ! 3\n",
	 "{\"a\":\"1\",\"b\":2,\"c\":{},\"d\":\"3\"}"},
	{"{\"a\":1}\n", "{\"a\":1}"},
	{"{\"a\":\"\\ud83d\\ude00\"}", "{\"a\":\"\xf0\x9f\x98\x80\"}"},
	{"{a: b}", "{\"a\":\"b\"}"},
	{"{\"a\":1}\n---\n{\"b\":2}\n", "{\"a\":1}|{\"b\":2}"},
	{"{\n\t\"a\": [\n\t\t1\n\t]\n}\n---\n{}", "{\"a\":[1]}|{}"},
	{"a: &x {b: 1}\nc: *x\nd: [*x, *x]\n",
	 "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[{\"b\":1},{\"b\":1}]}"},
	{"a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}"},
	{"- &k key\n- {*k : 1}\n", "[\"key\",{\"key\":1}]"},
	{"a: '<<'\n'<<': 1\n", "{\"a\":\"<<\",\"<<\":1}"},
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		_cleanup_(docs_fini) struct docs docs = DOCS_INIT;
		struct err err = ERR_INIT;
		int r = yaml_load(good[i].yaml, strlen(good[i].yaml), on_doc, &docs, &err);

		if (r != 0)
			fail_msg("%s: %s", good[i].yaml, err.text);
		assert_string_equal(docs.text.data ? docs.text.data : "", good[i].json);
	}
}

// The whole error where the words are ours, its place where they are the library's.
static const struct {
	const char *yaml, *error;
} bad[] = {
	{"a: b\na: c\n", "2:1: key `a` stands twice"},
	{"a: {b: 1, b: 2}\n", "1:11: key `b` stands twice"},
	{"1: a\n'1': b\n", "2:1: key `1` stands twice"},
	{"a: *x\n", "1:4: unknown or unfinished anchor `x`"},
	{"a: &x [*x]\n", "1:8: unknown or unfinished anchor `x`"},
	{"a: &x 1\n---\nb: *x\n", "3:4: unknown or unfinished anchor `x`"},
	{"a: &x {b: c}\nd:\n  <<: *x\n", "3:3: merge keys (<<) are not supported"},
	{"a: !!binary aGk=\n", "1:4: unsupported tag `tag:yaml.org,2002:binary`"},
	{"a: !Ref b\n", "1:4: unsupported tag `!Ref`"},
	{"a: !x {}\n", "1:4: unsupported tag `!x`"},
	{"[a]: b\n", "1:1: a key must be a scalar"},
	{"? {a: b}\n: c\n", "1:3: a key must be a scalar"},
	{"a: \"\\0\"\n", "1:4: a NUL character is not allowed"},
	{"a:\n\tb: c\n", "2:1: "},
	{"a: [\n", "2:1: "},
	{"a: b: c\n", "1:5: "},
	{"a: 'b\n", "2:1: "},
	{"a\nb: c\n", "2:2: "},
	{"a: b\n  c: d\n", "2:4: "},
	{"a: \"\\ud800\"\n", "1:7: "},
	{"a: \xff\n", ": invalid leading UTF-8 octet"},
	{"a: \xc3\x28\n", ": invalid trailing UTF-8 octet"},
	{"a: \x01\n", ": control characters are not allowed"},
	{"{\"a\":1}{\"b\":2}", "1:8: "},
	{"{\"a\":}x", "1:7: "},
	{"@", "1:1: "},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(docs_fini) struct docs docs = DOCS_INIT;
		struct err err = ERR_INIT;
		int r = yaml_load(bad[i].yaml, strlen(bad[i].yaml), on_doc, &docs, &err);

		if (r != -EINVAL || !strstr(err.text, bad[i].error))
			fail_msg("%s: %d `%s`, not `%s`", bad[i].yaml, r, err.text, bad[i].error);
	}
}

static void test_nul_byte(void **state)
{
	_cleanup_(docs_fini) struct docs docs = DOCS_INIT;

	(void)state;
	assert_int_equal(yaml_load("a: b\0c\n", 7, on_doc, &docs, NULL), -EINVAL);
	assert_int_equal(yaml_load("\0", 1, on_doc, &docs, NULL), -EINVAL);
	assert_int_equal(docs.count, 0);
}

// Places count from 1, wherever the document stands.
static void test_place(void **state)
{
	static const struct {
		const char *yaml;
		size_t line, column;
	} rows[] = {
		{"a: b", 1, 1},
		{"\n\n  {\"a\":1}", 3, 3},
		{"a: b\n---\n\n  c: d\n", 4, 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(docs_fini) struct docs docs = DOCS_INIT;

		assert_int_equal(yaml_load(rows[i].yaml, strlen(rows[i].yaml), on_doc, &docs, NULL),
				 0);
		assert_int_equal(docs.last.line, rows[i].line);
		assert_int_equal(docs.last.column, rows[i].column);
	}
}

static void repeat(struct buf *b, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		assert_int_equal(buf_add(b, text, strlen(text)), 0);
}

static void check_refused(const struct buf *text, const char *part)
{
	_cleanup_(docs_fini) struct docs docs = DOCS_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(yaml_load(text->data, text->len, on_doc, &docs, &err), -EINVAL);
	if (!strstr(err.text, part))
		fail_msg("`%s`, not `%s`", err.text, part);
}

static void test_depth(void **state)
{
	_cleanup_(buf_fini) struct buf fits = BUF_INIT(1 << 10), deep = BUF_INIT(8 << 20);
	_cleanup_(docs_fini) struct docs docs = DOCS_INIT;

	(void)state;
	repeat(&fits, "[", YAML_DEPTH_MAX);
	repeat(&fits, "]", YAML_DEPTH_MAX);
	assert_int_equal(yaml_load(fits.data, fits.len, on_doc, &docs, NULL), 0);
	repeat(&deep, "[", YAML_DEPTH_MAX + 1);
	check_refused(&deep, "1:33: nested too deeply");
	repeat(&deep, "[", 1 << 20);
	check_refused(&deep, "nested too deeply");
	deep.len = 0;
	repeat(&deep, "{\"a\":", 1 << 18);
	check_refused(&deep, "nested too deeply");
	deep.len = 0;
	repeat(&deep, "- ", 1 << 18);
	check_refused(&deep, "nested too deeply");
}

// An alias may carry a tree deeper than its text.
static void test_depth_by_alias(void **state)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(1 << 10);

	(void)state;
	repeat(&text, "a: &x ", 1);
	repeat(&text, "[", 20);
	repeat(&text, "]", 20);
	repeat(&text, "\nb: ", 1);
	repeat(&text, "[", 20);
	repeat(&text, "*x", 1);
	repeat(&text, "]", 20);
	check_refused(&text, "nested too deeply");
}

// Billion laughs: nine levels of nine aliases each.
static void test_bombs(void **state)
{
	_cleanup_(buf_fini) struct buf laughs = BUF_INIT(1 << 20), wide = BUF_INIT(4 << 20),
				       keys = BUF_INIT(4 << 20);

	(void)state;
	assert_int_equal(buf_addf(&laughs, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"), 0);
	for (int i = 1; i < 10; i++)
		assert_int_equal(
			buf_addf(&laughs, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n",
				 i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1),
			0);
	check_refused(&laughs, "too large once its aliases are put in");
	// One long text, many times.
	repeat(&wide, "a: &x ", 1);
	repeat(&wide, "xxxxxxxxxxxxxxxx", 1 << 16);
	repeat(&wide, "\nb: [", 1);
	repeat(&wide, "*x,", 64);
	repeat(&wide, "]", 1);
	check_refused(&wide, "too large once its aliases are put in");
	repeat(&keys, "- a\n", YAML_NODES_MAX);
	check_refused(&keys, "the document has too many values");
}

static void test_size(void **state)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(YAML_BYTES_MAX + 16);
	_cleanup_(docs_fini) struct docs docs = DOCS_INIT;

	(void)state;
	repeat(&text, "a: ", 1);
	repeat(&text, "xxxxxxxxxxxxxxxx", YAML_BYTES_MAX / 16 - 1);
	assert_int_equal(yaml_load(text.data, text.len, on_doc, &docs, NULL), 0);
	repeat(&text, "xxxxxxxxxxxxxxxx", 1);
	check_refused(&text, "1:1: longer than 4194304 bytes");
}

static int on_doc_fail(void *arg, const struct jval *root, struct yaml_place at, struct err *err)
{
	(void)root;
	(void)at;
	*(int *)arg += 1;
	return err_set(err, EIO, "stop");
}

static void test_callback_ends_it(void **state)
{
	struct err err = ERR_INIT;
	int calls = 0;

	(void)state;
	assert_int_equal(yaml_load("a: 1\n---\nb: 2\n", 14, on_doc_fail, &calls, &err), -EIO);
	assert_int_equal(calls, 1);
	assert_string_equal(err.text, "stop: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_nul_byte),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_depth_by_alias),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_callback_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
