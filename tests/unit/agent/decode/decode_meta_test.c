// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/decode/collect.h"

#include "base/buf.h"

static void test_names(void **state)
{
	static const struct {
		const char *text, *namespace, *name, *uid;
	} rows[] = {
		{"{'kind':'Pod','metadata':{'name':'a'}}", "default", "a", ""},
		{"{'kind':'Pod','metadata':{'name':'a','namespace':''}}", "default", "a", ""},
		{"{'kind':'Pod','metadata':{'name':'a','namespace':null}}", "default", "a", ""},
		{"{'kind':'Pod','metadata':{'name':'a.b','namespace':'x','uid':'7'}}", "x", "a.b",
		 "7"},
		{"{'kind':'Node','metadata':{'name':'n.example','namespace':'x'}}", "", "n.example",
		 ""},
		{"{'kind':'Namespace','metadata':{'name':'x'}}", "", "x", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(collected_fini) struct collected c = collect(rows[i].text);

		assert_int_equal(c.count, 1);
		assert_string_equal(c.objects[0]->meta.namespace, rows[i].namespace);
		assert_string_equal(c.objects[0]->meta.name, rows[i].name);
		assert_string_equal(c.objects[0]->meta.uid, rows[i].uid);
	}
}

static void test_labels(void **state)
{
	_cleanup_(collected_fini) struct collected c =
		collect("{'kind':'Namespace','metadata':{'name':'x','labels':"
			"{'b':'','a.io/x':'Y_1','c':'2'}}}");
	const struct object_meta *meta = &c.objects[0]->meta;

	(void)state;
	assert_int_equal(meta->label_count, 3);
	assert_string_equal(meta->labels[0].key, "a.io/x");
	assert_string_equal(meta->labels[0].value, "Y_1");
	assert_string_equal(meta->labels[1].key, "b");
	assert_string_equal(meta->labels[1].value, "");
	assert_string_equal(meta->labels[2].key, "c");
}

#define LABELS(text) "{'kind':'Pod','metadata':{'name':'a','labels':" text "}}"

static const struct refused_case refused[] = {
	{"{'kind':'Pod','metadata':null}", "$.metadata: missing"},
	{"{'kind':'Pod','metadata':[]}", "$.metadata: expected an object"},
	{"{'kind':'Pod','metadata':{'name':''}}", "`` is no valid name"},
	{"{'kind':'Pod','metadata':{'generateName':'a-'}}", "$.metadata.name: missing"},
	{"{'kind':'Pod','metadata':{'name':'../../etc'}}", "no valid name"},
	{"{'kind':'Pod','metadata':{'name':'a','namespace':'x.y'}}", "$.metadata.namespace"},
	{"{'kind':'Pod','metadata':{'name':'a','namespace':'x/y'}}", "no valid name"},
	{"{'kind':'Namespace','metadata':{'name':'x.y'}}", "no valid name"},
	{"{'kind':'Pod','metadata':{'name':'a','uid':'a\\nb'}}", "not a uid"},
	{"{'kind':'Pod','metadata':{'name':'a','uid':7}}", "expected a string, got 7"},
	{LABELS("{'a':1}"), "$.metadata.labels.a: expected a string, got 1"},
	{LABELS("{'a':true}"), "expected a string, got true"},
	{LABELS("{'a':null}"), "expected a string, got null"},
	{LABELS("{'a b':'c'}"), "is no valid label"},
	{LABELS("{'a':'b c'}"), "is no valid label"},
	{LABELS("{'':'b'}"), "is no valid label"},
	{LABELS("['a']"), "expected an object"},
};

static void test_refused(void **state)
{
	(void)state;
	check_refused(refused, ARRAY_LEN(refused));
}

// More labels than any object has; the count is checked before anything is kept.
static void test_many_labels(void **state)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(1 << 20);

	(void)state;
	assert_int_equal(buf_addf(&text, "%s", "{'kind':'Pod','metadata':{'name':'a','labels':{"),
			 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(buf_addf(&text, "%s'l%d':'v'", i ? "," : "", i), 0);
	assert_int_equal(buf_addf(&text, "}}}"), 0);
	const struct refused_case many = {text.data, "more than 1024 labels"};
	check_refused(&many, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
