// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/jget.h"

#define E_ACUTE_7 "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
#define ANY ((struct jrange){INT64_MIN, INT64_MAX})

static const char text[] =
	"{\"s\":\"text\",\"e\":\"\",\"t\":true,\"i\":-7,\"big\":34359738359,"
	"\"u\":18446744073709551615,\"half\":9223372036854775808,\"d\":1.0,\"n\":null,"
	"\"o\":{\"k\":1},\"a\":[1,\"x\",null,[2]],\"ip\":\"10.0.0.1\",\"bad\":\"10.0.0.01\","
	"\"px\":\"fd00::/64\",\"mac\":\"02:00:00:00:00:01\",\"Case\":1,\"CASE\":2,\"Mixed\":3,"
	"\"long\":\"" E_ACUTE_7 E_ACUTE_7 E_ACUTE_7 "\"}";

static struct jdoc *doc;
static struct jval root;
static struct err err;

static struct jdoc *parse(const char *s)
{
	static const struct jlimits limits = {.bytes = 1 << 16, .depth = 32};
	struct jdoc *d = NULL;

	if (jdoc_parse(s, strlen(s), &limits, &d, &err) < 0)
		fail_msg("%s", err.text);
	return d;
}

static int setup(void **state)
{
	(void)state;
	err = ERR_INIT;
	doc = parse(text);
	root = jdoc_root(doc);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jdoc_freep(&doc);
	return 0;
}

static void assert_failed(int r, int want, const char *want_text)
{
	assert_int_equal(r, want);
	assert_string_equal(err.text, want_text);
	err = ERR_INIT;
}

static void test_string(void **state)
{
	const char *s = "before";

	(void)state;
	assert_int_equal(jget_string(&root, "s", JREQUIRED, &s, &err), 0);
	assert_string_equal(s, "text");
	assert_int_equal(jget_string(&root, "e", JREQUIRED, &s, &err), 0);
	assert_string_equal(s, "");
	s = "before";
	assert_int_equal(jget_string(&root, "none", JOPTIONAL, &s, &err), 0);
	assert_int_equal(jget_string(&root, "n", JOPTIONAL, &s, &err), 0);
	assert_string_equal(err.text, "");
	assert_failed(jget_string(&root, "none", JREQUIRED, &s, &err), -EINVAL, "$.none: missing");
	assert_failed(jget_string(&root, "n", JREQUIRED, &s, &err), -EINVAL, "$.n: missing");
	assert_failed(jget_string(&root, "i", JOPTIONAL, &s, &err), -EINVAL,
		      "$.i: expected a string, got -7");
	assert_failed(jget_string(&root, "o", JOPTIONAL, &s, &err), -EINVAL,
		      "$.o: expected a string, got an object");
	assert_string_equal(s, "before");
}

static void test_bool(void **state)
{
	bool b = false;

	(void)state;
	assert_int_equal(jget_bool(&root, "t", JREQUIRED, &b, &err), 0);
	assert_true(b);
	assert_int_equal(jget_bool(&root, "none", JOPTIONAL, &b, &err), 0);
	assert_true(b);
	assert_failed(jget_bool(&root, "i", JREQUIRED, &b, &err), -EINVAL,
		      "$.i: expected a boolean, got -7");
	assert_failed(jget_bool(&root, "s", JREQUIRED, &b, &err), -EINVAL,
		      "$.s: expected a boolean, got \"text\"");
}

static void test_int(void **state)
{
	int64_t i = 99;

	(void)state;
	assert_int_equal(jget_int(&root, "i", JREQUIRED, ANY, &i, &err), 0);
	assert_true(i == -7);
	assert_int_equal(jget_int(&root, "big", JREQUIRED, ANY, &i, &err), 0);
	assert_true(i == 34359738359);
	assert_int_equal(jget_int(&root, "none", JOPTIONAL, ANY, &i, &err), 0);
	assert_true(i == 34359738359);
	struct jrange r = {-7, -7};
	assert_int_equal(jget_int(&root, "i", JREQUIRED, r, &i, &err), 0);
	i = 99;
	assert_failed(jget_int(&root, "i", JREQUIRED, (struct jrange){0, 65535}, &i, &err), -ERANGE,
		      "$.i: expected 0..65535, got -7");
	assert_failed(jget_int(&root, "half", JREQUIRED, ANY, &i, &err), -ERANGE,
		      "$.half: expected -9223372036854775808..9223372036854775807, "
		      "got 9223372036854775808");
	// A number with a fraction is none, even where it is whole.
	assert_failed(jget_int(&root, "d", JREQUIRED, ANY, &i, &err), -EINVAL,
		      "$.d: expected an integer, got 1.0");
	assert_failed(jget_int(&root, "t", JREQUIRED, ANY, &i, &err), -EINVAL,
		      "$.t: expected an integer, got true");
	assert_failed(jget_int(&root, "long", JREQUIRED, ANY, &i, NULL), -EINVAL, "");
	assert_true(i == 99);
}

static void test_u64(void **state)
{
	uint64_t u = 1;

	(void)state;
	assert_int_equal(jget_u64(&root, "u", JREQUIRED, &u, &err), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(jget_u64(&root, "half", JREQUIRED, &u, &err), 0);
	assert_true(u == 1ull << 63);
	assert_int_equal(jget_u64(&root, "none", JOPTIONAL, &u, &err), 0);
	assert_true(u == 1ull << 63);
	assert_failed(jget_u64(&root, "i", JREQUIRED, &u, &err), -ERANGE,
		      "$.i: expected 0 or more, got -7");
	assert_failed(jget_u64(&root, "d", JREQUIRED, &u, &err), -EINVAL,
		      "$.d: expected an integer, got 1.0");
}

static void test_addresses(void **state)
{
	struct ipaddr a;
	struct ipprefix p;
	struct macaddr m;

	(void)state;
	assert_int_equal(jget_ipaddr(&root, "ip", JREQUIRED, &a, &err), 0);
	assert_int_equal(a.b[15], 1);
	assert_int_equal(jget_ipprefix(&root, "px", JREQUIRED, &p, &err), 0);
	assert_int_equal(p.len, 64);
	assert_int_equal(jget_mac(&root, "mac", JREQUIRED, &m, &err), 0);
	assert_int_equal(m.b[0], 2);
	assert_int_equal(jget_ipaddr(&root, "none", JOPTIONAL, &a, &err), 0);
	assert_int_equal(jget_ipprefix(&root, "n", JOPTIONAL, &p, &err), 0);
	assert_int_equal(jget_mac(&root, "none", JOPTIONAL, &m, &err), 0);
	assert_failed(jget_ipaddr(&root, "bad", JREQUIRED, &a, &err), -EINVAL,
		      "$.bad: expected an IP address, got \"10.0.0.01\"");
	assert_failed(jget_ipprefix(&root, "s", JREQUIRED, &p, &err), -EINVAL,
		      "$.s: expected an IP prefix, got \"text\"");
	assert_failed(jget_mac(&root, "ip", JREQUIRED, &m, &err), -EINVAL,
		      "$.ip: expected a MAC address, got \"10.0.0.1\"");
	assert_failed(jget_mac(&root, "i", JREQUIRED, &m, &err), -EINVAL,
		      "$.i: expected a string, got -7");
}

static void test_containers(void **state)
{
	struct jval v = {0}, before = {.path = "before"};
	int64_t i;

	(void)state;
	assert_int_equal(jget_object(&root, "o", JREQUIRED, &v, &err), 0);
	assert_string_equal(v.path, "$.o");
	assert_int_equal(jget_int(&v, "k", JREQUIRED, ANY, &i, &err), 0);
	assert_failed(jget_int(&v, "x", JREQUIRED, ANY, &i, &err), -EINVAL, "$.o.x: missing");
	assert_failed(jget_object(&root, "a", JREQUIRED, &v, &err), -EINVAL,
		      "$.a: expected an object, got an array");
	assert_failed(jget_array(&root, "o", JREQUIRED, &v, &err), -EINVAL,
		      "$.o: expected an array, got an object");
	assert_int_equal(jget_object(&root, "none", JOPTIONAL, &before, &err), 0);
	assert_int_equal(jget_array(&root, "n", JOPTIONAL, &before, &err), 0);
	assert_string_equal(before.path, "before");
}

static void test_elements(void **state)
{
	struct jval arr, v;
	const char *s = NULL;
	int64_t i = 0;

	(void)state;
	assert_int_equal(jget_array(&root, "a", JREQUIRED, &arr, &err), 0);
	assert_int_equal(jarray_len(&arr), 4);
	v = jarray_at(&arr, 0);
	assert_int_equal(jval_int(&v, ANY, &i, &err), 0);
	assert_true(i == 1);
	v = jarray_at(&arr, 1);
	assert_int_equal(jval_string(&v, &s, &err), 0);
	assert_string_equal(s, "x");
	assert_failed(jval_int(&v, ANY, &i, &err), -EINVAL,
		      "$.a[1]: expected an integer, got \"x\"");
	v = jarray_at(&arr, 2);
	assert_true(jval_is_null(&v));
	assert_failed(jval_string(&v, &s, &err), -EINVAL, "$.a[2]: expected a string, got null");
	v = jarray_at(&arr, 3);
	v = jarray_at(&v, 0);
	assert_string_equal(v.path, "$.a[3][0]");
	v = jarray_at(&arr, 4);
	assert_true(jval_is_null(&v));
	assert_failed(jval_int(&v, ANY, &i, &err), -EINVAL,
		      "$.a[4]: expected an integer, got null");
	v = jarray_at(&root, 0);
	assert_true(jval_is_null(&v));
	assert_int_equal(jarray_len(&root), 0);
	assert_int_equal(jarray_len(&v), 0);
}

static void test_jget(void **state)
{
	struct jval v, inner;

	(void)state;
	assert_int_equal(jget(&root, "none", JOPTIONAL, &v, &err), 0);
	assert_true(jval_is_null(&v));
	assert_string_equal(v.path, "$.none");
	// Absent has no members, so chains need no test in between.
	assert_int_equal(jget(&v, "x", JOPTIONAL, &inner, &err), 0);
	assert_true(jval_is_null(&inner));
	assert_failed(jget(&v, "x", JREQUIRED, &inner, &err), -EINVAL, "$.none.x: missing");
	assert_int_equal(jget(&root, "s", JREQUIRED, &v, &err), 0);
	assert_failed(jget(&v, "x", JOPTIONAL, &inner, &err), -EINVAL,
		      "$.s: expected an object, got \"text\"");
	assert_true(jget_has(&root, "n", 0));
	assert_false(jget_has(&root, "none", 0));
	assert_false(jget_has(&v, "x", 0));
}

static void test_nocase(void **state)
{
	int64_t i = 0;

	(void)state;
	assert_int_equal(jget_int(&root, "mixed", JOPTIONAL, ANY, &i, &err), 0);
	assert_true(i == 0);
	assert_int_equal(jget_int(&root, "mixed", JREQUIRED | JNOCASE, ANY, &i, &err), 0);
	assert_true(i == 3);
	// The exact key goes before one that differs in case.
	assert_int_equal(jget_int(&root, "CASE", JREQUIRED | JNOCASE, ANY, &i, &err), 0);
	assert_true(i == 2);
	assert_int_equal(jget_int(&root, "case", JREQUIRED | JNOCASE, ANY, &i, &err), 0);
	assert_true(i == 1);
	assert_true(jget_has(&root, "mIXED", JNOCASE));
	assert_false(jget_has(&root, "mIXED", 0));
	assert_false(jget_has(&root, "mIXEDx", JNOCASE));
}

static void test_types(void **state)
{
	static const struct {
		const char *key;
		enum jtype type;
	} rows[] = {
		{"s", JTYPE_STRING}, {"t", JTYPE_BOOL},   {"i", JTYPE_INT},
		{"u", JTYPE_INT},    {"d", JTYPE_DOUBLE}, {"n", JTYPE_NULL},
		{"o", JTYPE_OBJECT}, {"a", JTYPE_ARRAY},  {"none", JTYPE_NULL},
	};
	struct jval v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(jget(&root, rows[i].key, JOPTIONAL, &v, &err), 0);
		assert_int_equal(jval_type(&v), rows[i].type);
	}
	char *s = jval_text(&v);
	assert_string_equal(s, "null");
	free(s);
}

static void test_walk(void **state)
{
	struct jdoc *d = parse("{\"z\":1,\"a\":null,\"m\":{\"x\":[]}}");
	struct jval obj = jdoc_root(d), v;
	_cleanup_(buf_fini) struct buf order = BUF_INIT(64);
	const char *key;

	(void)state;
	for (void *it = NULL; jobject_next(&obj, &it, &key, &v);) {
		assert_int_equal(buf_addf(&order, "%s%s", key, v.path), 0);
	}
	assert_string_equal(order.data, "z$.za$.am$.m");
	void *it = NULL;
	v = (struct jval){0};
	assert_false(jobject_next(&v, &it, &key, &v));
	jdoc_free(d);
}

// A wrong value is shown, but not all of it, and never half a character.
static void test_sample_is_cut(void **state)
{
	int64_t i;

	(void)state;
	assert_int_equal(jget_int(&root, "long", JREQUIRED, ANY, &i, &err), -EINVAL);
	assert_true(utf8_is_valid(err.text, strlen(err.text)));
	assert_string_equal(err.text + strlen(err.text) - 3, "...");
	assert_in_range(strlen(err.text), 40, 100);
}

static struct jval step(struct jval v, const char *key, unsigned i)
{
	struct jval next;

	if (key) {
		assert_int_equal(jget(&v, key, JOPTIONAL, &next, NULL), 0);
		return next;
	}
	return jarray_at(&v, i);
}

// Paths of any length: the end stays, whole characters, always within the buffer.
static void test_long_paths(void **state)
{
	static const char *const units[] = {"k", "\xc3\xa9", "\xe2\x82\xac"};
	char key[400];

	(void)state;
	for (size_t u = 0; u < ARRAY_LEN(units); u++) {
		for (size_t len = 1; len < 200; len++) {
			key[0] = '\0';
			for (size_t n = 0; n + strlen(units[u]) <= len; n += strlen(units[u]))
				memcpy(key + n, units[u], strlen(units[u]) + 1);
			struct jval v = {.path = "$"};
			for (unsigned i = 0; i < 4; i++)
				v = step(step(v, key, 0), NULL, i);
			assert_in_range(strlen(v.path), 1, JPATH_MAX - 1);
			assert_true(utf8_is_valid(v.path, strlen(v.path)));
			assert_string_equal(v.path + strlen(v.path) - 3, "[3]");
			v = step(v, "last", 0);
			assert_string_equal(v.path + strlen(v.path) - 8, "[3].last");
			if (len > 60)
				assert_memory_equal(v.path, "...", 3);
		}
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_string),     TEST(test_bool),      TEST(test_int),
		TEST(test_u64),        TEST(test_addresses), TEST(test_containers),
		TEST(test_elements),   TEST(test_jget),      TEST(test_nocase),
		TEST(test_types),      TEST(test_walk),      TEST(test_sample_is_cut),
		TEST(test_long_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
