// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/msg.h"
#include "base/compiler.h"

#define IDS "\"network\":\"n\",\"container_id\":\"c\",\"ifname\":\"eth0\""

// A request of each kind with all fields, and one with the required ones only.
static const struct {
	enum msg_type type;
	const char *full, *least;
} good[] = {
	{MSG_HELLO, "{\"type\":\"hello\",\"id\":1,\"min\":1,\"max\":1,\"who\":\"w\",\"new\":[]}",
	 "{\"type\":\"hello\",\"min\":1,\"max\":1,\"who\":\"\"}"},
	{MSG_ATTACH,
	 "{\"type\":\"attach\"," IDS ",\"netns\":\"/x\",\"pod\":{},\"ips\":[],\"delegated\":true,"
	 "\"mac\":\"02:00:00:00:00:01\",\"mtu\":1450}",
	 "{\"type\":\"attach\"," IDS ",\"pod\":null,\"mac\":null,\"mtu\":null}"},
	{MSG_ACTIVATE, "{\"type\":\"activate\"," IDS ",\"wait_ms\":100}",
	 "{\"type\":\"activate\"," IDS "}"},
	{MSG_DETACH, "{\"type\":\"detach\"," IDS "}", "{\"type\":\"detach\"," IDS "}"},
	{MSG_CHECK, "{\"type\":\"check\"," IDS ",\"ips\":[],\"mac\":\"02:00:00:00:00:01\"}",
	 "{\"type\":\"check\"," IDS "}"},
	{MSG_GC, "{\"type\":\"gc\",\"network\":\"n\",\"valid\":[{}]}",
	 "{\"type\":\"gc\",\"network\":\"n\"}"},
	{MSG_READY, "{\"type\":\"ready\"}", "{\"type\":\"ready\"}"},
	{MSG_BEGIN_SYNC, "{\"type\":\"begin-sync\"}", "{\"type\":\"begin-sync\"}"},
	{MSG_APPLY, "{\"type\":\"apply\",\"ops\":[{}]}", "{\"type\":\"apply\",\"ops\":[]}"},
	{MSG_END_SYNC, "{\"type\":\"end-sync\"}", "{\"type\":\"end-sync\"}"},
	{MSG_REPORT, "{\"type\":\"report\",\"synced\":true,\"last_event_age_s\":3,\"problems\":[]}",
	 "{\"type\":\"report\",\"synced\":false}"},
	{MSG_GET, "{\"type\":\"get\",\"object\":\"pod\",\"after\":0}",
	 "{\"type\":\"get\",\"object\":\"pod\"}"},
	{MSG_WATCH, "{\"type\":\"watch\",\"object\":\"pod\"}",
	 "{\"type\":\"watch\",\"object\":\"pod\"}"},
};

static int check(const char *text, enum msg_type *ret_type, struct err *err)
{
	static const struct jlimits limits = {.bytes = 1 << 16, .depth = 8};
	struct jdoc *doc = NULL;

	if (jdoc_parse(text, strlen(text), &limits, &doc, err) < 0)
		fail_msg("%s: %s", text, err ? err->text : "");
	struct jval root = jdoc_root(doc);
	int r = msg_check(&root, ret_type, err);
	jdoc_free(doc);
	return r;
}

static void test_good(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(good), MSG_COUNT);
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		const char *const texts[] = {good[i].full, good[i].least};
		for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
			enum msg_type type = MSG_COUNT;
			struct err err = ERR_INIT;
			if (check(texts[t], &type, &err) != 0 || type != good[i].type)
				fail_msg("%s: %s", texts[t], err.text);
			assert_string_equal(err.text, "");
		}
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"[]", "$: expected an object, got an array"},
		{"null", "$.type: missing"},
		{"{}", "$.type: missing"},
		{"{\"type\":1}", "$.type: expected a string, got 1"},
		{"{\"type\":\"nope\"}", "$.type: unknown message `nope`"},
		{"{\"type\":\"HELLO\"}", "$.type: unknown message `HELLO`"},
		{"{\"type\":\"a\\nb\"}", "$.type: control character"},
		{"{\"type\":\"ready\",\"id\":\"1\"}", "$.id: expected an integer, got \"1\""},
		{"{\"type\":\"ready\",\"id\":1.5}", "$.id: expected an integer, got 1.5"},
		{"{\"type\":\"hello\",\"min\":1,\"max\":1}", "$.who: missing"},
		{"{\"type\":\"hello\",\"min\":true,\"max\":1,\"who\":\"w\"}",
		 "$.min: expected an integer, got true"},
		{"{\"type\":\"hello\",\"min\":1,\"max\":18446744073709551615,\"who\":\"w\"}",
		 "$.max: expected -9223372036854775808..9223372036854775807, "
		 "got 18446744073709551615"},
		{"{\"type\":\"attach\"," IDS ",\"mac\":\"02:00\"}",
		 "$.mac: expected a MAC address, got \"02:00\""},
		{"{\"type\":\"attach\"," IDS ",\"pod\":[]}",
		 "$.pod: expected an object, got an array"},
		{"{\"type\":\"attach\"," IDS ",\"ips\":\"10.0.0.1\"}",
		 "$.ips: expected an array, got \"10.0.0.1\""},
		{"{\"type\":\"attach\"," IDS ",\"delegated\":1}",
		 "$.delegated: expected a boolean, got 1"},
		{"{\"type\":\"attach\",\"network\":\"a\\u007fb\"}", "$.network: control character"},
		{"{\"type\":\"detach\",\"network\":null,\"container_id\":\"c\",\"ifname\":\"i\"}",
		 "$.network: missing"},
		{"{\"type\":\"apply\",\"ops\":{}}", "$.ops: expected an array, got an object"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum msg_type type = MSG_GC;
		struct err err = ERR_INIT;
		int r = check(rows[i].text, &type, &err);
		if (r != -EINVAL || strcmp(err.text, rows[i].want) != 0)
			fail_msg("%s: %d %s", rows[i].text, r, err.text);
		assert_int_equal(err.code, 7);
		assert_int_equal(type, MSG_GC);
		assert_int_equal(check(rows[i].text, &type, NULL), -EINVAL);
	}
}

static void test_string_length(void **state)
{
	char name[1100], text[1200];
	enum msg_type type;
	struct err err = ERR_INIT;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[1024] = '\0';
	snprintf(text, sizeof(text), "{\"type\":\"gc\",\"network\":\"%s\"}", name);
	assert_int_equal(check(text, &type, &err), 0);
	name[1024] = 'x';
	name[1025] = '\0';
	snprintf(text, sizeof(text), "{\"type\":\"gc\",\"network\":\"%s\"}", name);
	assert_int_equal(check(text, &type, &err), -EINVAL);
	assert_string_equal(err.text, "$.network: longer than 1024 bytes");
	snprintf(text, sizeof(text), "{\"type\":\"%s\"}", name);
	assert_int_equal(check(text, &type, &err), -EINVAL);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < MSG_COUNT; i++) {
		const struct msg_desc *d = &msg_table[i];
		assert_non_null(d->name);
		assert_true(strlen(d->help) > 0);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(d->name, msg_table[j].name);
		for (size_t f = 0; f < d->field_count; f++) {
			assert_true(strlen(d->fields[f].name) > 0);
			assert_true(strlen(d->fields[f].help) > 0);
			// Only a request can lack a field.
			assert_false(d->fields[f].required && d->fields[f].reply);
		}
	}
	assert_string_equal(msg_table[MSG_BEGIN_SYNC].name, "begin-sync");
	assert_true(msg_table[MSG_HELLO].cheap);
	assert_false(msg_table[MSG_APPLY].cheap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_string_length),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
