// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JSON text: the parser, every getter on every value, the writer. What is accepted
// must be written in a form that is accepted again and written the same way.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/jget.h"
#include "json/jput.h"

static const struct jlimits limits = {.bytes = 1 << 16, .depth = 16};
static const struct jrange range = {-5, 70000};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	assert(utf8_is_valid(text, strlen(text)));
}

// Each getter with a value of any type: an answer or an error that can be read.
static void get_all(const struct jval *obj, const char *key)
{
	struct err err = ERR_INIT;
	struct ipprefix prefix;
	struct macaddr mac;
	struct ipaddr addr;
	const char *s = NULL;
	int64_t i = 0;
	uint64_t u;
	bool b;
	struct jval v;

	if (jget_string(obj, key, JREQUIRED | JNOCASE, &s, &err) == 0)
		check_text(s);
	check_text(err.text);
	if (jget_int(obj, key, JREQUIRED, range, &i, &err) == 0)
		assert(i >= range.min && i <= range.max);
	check_text(err.text);
	(void)jget_u64(obj, key, JOPTIONAL, &u, &err);
	(void)jget_bool(obj, key, JOPTIONAL, &b, &err);
	(void)jget_object(obj, key, JOPTIONAL, &v, &err);
	(void)jget_array(obj, key, JOPTIONAL, &v, &err);
	(void)jget_ipaddr(obj, key, JOPTIONAL, &addr, &err);
	(void)jget_ipprefix(obj, key, JOPTIONAL, &prefix, &err);
	(void)jget_mac(obj, key, JOPTIONAL, &mac, &err);
	check_text(err.text);
}

static void walk(const struct jval *v, unsigned depth)
{
	const char *key;
	struct jval child;

	assert(depth <= limits.depth);
	check_text(v->path);
	for (void *it = NULL; jobject_next(v, &it, &key, &child);) {
		assert(jget_has(v, key, 0));
		get_all(v, key);
		walk(&child, depth + 1);
	}
	for (size_t i = 0; i < jarray_len(v); i++) {
		child = jarray_at(v, i);
		walk(&child, depth + 1);
	}
}

static char *copy_text(const struct jval *root)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_value(j, NULL, root);
	return jput_take(j);
}

static void round_trip(const struct jval *root)
{
	_cleanup_(jdoc_freep) struct jdoc *again = NULL;
	// A short escape may become a longer character or the other way round.
	struct jlimits wide = {.bytes = 8 * limits.bytes, .depth = limits.depth};
	_free_ char *text = jval_text(root), *copy = copy_text(root);
	struct err err = ERR_INIT;

	assert(text && copy && strcmp(text, copy) == 0 && !strchr(text, '\n'));
	if (jdoc_parse(text, strlen(text), &wide, &again, &err) < 0)
		abort();
	struct jval same = jdoc_root(again);
	_free_ char *twice = jval_text(&same);
	assert(twice && strcmp(text, twice) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct err err = ERR_INIT;

	if (jdoc_parse((const char *)data, size, &limits, &doc, &err) < 0) {
		assert(err.text[0] != '\0');
		return 0;
	}
	struct jval root = jdoc_root(doc);
	walk(&root, 0);
	round_trip(&root);
	return 0;
}
