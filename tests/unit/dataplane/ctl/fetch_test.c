// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "fetch.h"
#include "harness/line_peer.h"

#define HELLO                                         \
	{                                             \
		"\"hello\"", {LINE_PEER_HELLO}, false \
	}
#define MAX_ROWS 3

struct seen {
	char text[256]; // rows joined by a space
	int rows;
};

// Ends the walk with 7 at the row MAX_ROWS.
static int note(const struct jval *row, void *arg, struct err *err)
{
	struct seen *seen = arg;
	_free_ char *text = jval_text(row);
	size_t len = strlen(seen->text);

	(void)err;
	snprintf(seen->text + len, sizeof(seen->text) - len, "%s%s", len ? " " : "", text);
	return ++seen->rows == MAX_ROWS ? 7 : 0;
}

struct row {
	const char *name;
	struct line_answer answers[4];
	int result;
	const char *seen, *err;
};

static const struct row pages[] = {
	{.name = "two pages",
	 .answers = {{"\"after\":2", {"{\"ok\":true,\"items\":[\"b\"]}"}, false},
		     {"\"get\"", {"{\"ok\":true,\"items\":[\"a\"],\"next\":2}"}, false},
		     HELLO},
	 .seen = "\"a\" \"b\""},
	{.name = "ended by the reader",
	 .answers = {{"\"get\"", {"{\"ok\":true,\"items\":[1,2,3,4],\"next\":2}"}, false}, HELLO},
	 .result = 7,
	 .seen = "1 2 3"},
	{.name = "a cursor that stands still",
	 .answers = {{"\"get\"", {"{\"ok\":true,\"items\":[1],\"next\":2}"}, false}, HELLO},
	 .result = -EPROTO,
	 .seen = "1 1",
	 .err = "page 2"},
	{.name = "a cursor that is none",
	 .answers = {{"\"get\"", {"{\"ok\":true,\"items\":[],\"next\":-1}"}, false}, HELLO},
	 .result = -ERANGE,
	 .seen = "",
	 .err = "next"},
	{.name = "no items",
	 .answers = {{"\"get\"", {"{\"ok\":true}"}, false}, HELLO},
	 .result = -EINVAL,
	 .seen = "",
	 .err = "items"},
};

static const struct row watches[] = {
	{.name = "rows, then events, then the end",
	 .answers = {{"\"watch\"",
		      {"{\"ok\":true,\"items\":[1]}", "{\"event\":\"removed\",\"item\":1}"},
		      true},
		     HELLO},
	 .result = -ECONNRESET,
	 .seen = "{\"event\":\"added\",\"item\":1} {\"event\":\"removed\",\"item\":1}",
	 .err = "weftd.sock"},
	{.name = "ended by the reader",
	 .answers = {{"\"watch\"",
		      {"{\"ok\":true,\"items\":[]}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}"},
		      false},
		     HELLO},
	 .result = 7,
	 .seen = "{\"n\":1} {\"n\":2} {\"n\":3}"},
	{.name = "refused",
	 .answers = {{"\"watch\"", {"{\"ok\":false,\"error\":{\"code\":7,\"msg\":\"no\"}}"}, false},
		     HELLO},
	 .result = -EREMOTEIO,
	 .seen = "",
	 .err = "no"},
};

static void check(const struct row *row,
		  int (*fn)(const struct ctl *, const char *, fetch_fn *, void *, struct err *))
{
	struct line_peer *p = line_peer_start(row->answers, 3);
	struct ctl ctl = {.run_dir = line_peer_dir(p)};
	struct seen seen = {0};
	struct err err = ERR_INIT;
	int r;

	print_message("%s\n", row->name);
	r = fn(&ctl, "pod", note, &seen, &err);
	line_peer_stop(p);
	assert_int_equal(r, row->result);
	assert_string_equal(seen.text, row->seen);
	if (row->err)
		assert_non_null(strstr(err.text, row->err));
	else
		assert_string_equal(err.text, "");
}

static void walks_pages(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pages); i++)
		check(&pages[i], fetch_rows);
}

static void follows_a_watch(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(watches); i++)
		check(&watches[i], fetch_watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_pages),
		cmocka_unit_test(follows_a_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
