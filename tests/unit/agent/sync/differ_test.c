// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sync/differ.h"

static struct differ *d;

static int setup(void **state)
{
	(void)state;
	d = differ_new();
	return d ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	differ_free(d);
	return 0;
}

static void set(const char *key, const char *text)
{
	assert_int_equal(differ_set(d, key, strdup(text)), 0);
}

static void del(const char *key)
{
	assert_int_equal(differ_del(d, key, strdup("del")), 0);
}

// Takes up to max ops; they must read as told.
static void take(size_t max, const char *want)
{
	_cleanup_(buf_fini) struct buf out = BUF_INIT(1 << 16);
	size_t count = differ_take(d, max, &out);

	assert_string_equal(out.data ? out.data : "", want);
	assert_int_equal(differ_taken(d), count);
}

static void test_only_changes(void **state)
{
	(void)state;
	set("a", "a1");
	set("b", "b1");
	assert_int_equal(differ_waiting(d), 2);
	take(10, "a1,b1");
	differ_ack(d);
	assert_int_equal(differ_waiting(d), 0);
	set("a", "a1");
	assert_int_equal(differ_waiting(d), 0);
	set("a", "a2");
	set("a", "a1"); // there and back
	assert_int_equal(differ_waiting(d), 0);
	set("a", "a3");
	take(10, "a3");
	differ_ack(d);
	take(10, "");
	differ_ack(d);
	assert_int_equal(differ_len(d), 2);
}

static void test_del(void **state)
{
	(void)state;
	del("never");
	set("a", "a1");
	del("a"); // never sent: nothing to take back
	assert_int_equal(differ_waiting(d), 0);
	assert_int_equal(differ_len(d), 0);
	set("a", "a1");
	take(10, "a1");
	differ_ack(d);
	del("a");
	set("a", "a1");
	assert_int_equal(differ_waiting(d), 0);
	del("a");
	take(10, "del");
	differ_ack(d);
	assert_int_equal(differ_len(d), 0);
	assert_int_equal(differ_waiting(d), 0);
	set("a", "a1");
	take(10, "a1");
	differ_ack(d);
}

static void test_change_while_taken(void **state)
{
	(void)state;
	set("a", "a1");
	set("b", "b1");
	set("c", "c1");
	take(10, "a1,b1,c1");
	set("a", "a2");
	del("b");
	set("c", "c2");
	set("c", "c1");
	differ_ack(d);
	take(10, "a2,del");
	set("b", "b1");
	differ_ack(d);
	take(10, "b1");
	differ_ack(d);
	assert_int_equal(differ_len(d), 3);
	assert_int_equal(differ_waiting(d), 0);
}

static void test_nack(void **state)
{
	(void)state;
	set("a", "a1");
	set("b", "b1");
	take(10, "a1,b1");
	del("b");
	differ_nack(d);
	take(10, "a1");
	differ_ack(d);
	assert_int_equal(differ_waiting(d), 0);
}

static void test_refuse(void **state)
{
	char key[16];

	(void)state;
	set("a", "a1");
	take(1, "a1");
	differ_refuse(d, key, sizeof(key));
	assert_string_equal(key, "a");
	assert_int_equal(differ_waiting(d), 0);
	set("a", "a1"); // the same again
	assert_int_equal(differ_waiting(d), 0);
	set("a", "a2");
	take(1, "a2");
	set("a", "a3"); // changed while it was looked at
	differ_refuse(d, key, sizeof(key));
	take(1, "a3");
	differ_ack(d);
	del("a");
	take(1, "del");
	differ_refuse(d, key, sizeof(key));
	assert_string_equal(key, "a");
	assert_int_equal(differ_waiting(d), 0);
	assert_int_equal(differ_len(d), 0);
}

static void test_refused_is_sent_at_resync(void **state)
{
	char key[16];

	(void)state;
	set("a", "a1");
	take(1, "a1");
	differ_refuse(d, key, sizeof(key));
	differ_resync(d);
	take(1, "a1");
	differ_ack(d);
}

static void test_resync(void **state)
{
	(void)state;
	set("a", "a1");
	set("b", "b1");
	set("c", "c1");
	take(2, "a1,b1");
	differ_ack(d);
	del("b");
	take(1, "c1"); // lost with the connection
	differ_resync(d);
	assert_int_equal(differ_waiting(d), 2);
	take(10, "c1,a1");
	differ_ack(d);
	assert_int_equal(differ_len(d), 2);
	differ_resync(d);
	assert_int_equal(differ_waiting(d), 2);
}

static void test_limits(void **state)
{
	_cleanup_(buf_fini) struct buf small = BUF_INIT(5);

	(void)state;
	set("a", "a1");
	set("b", "b1");
	set("c", "c1");
	take(0, "");
	differ_ack(d);
	assert_int_equal(differ_take(d, 10, &small), 2);
	assert_string_equal(small.data, "a1,b1");
	differ_nack(d);
	assert_int_equal(differ_waiting(d), 3);
	take(10, "c1,a1,b1");
	differ_ack(d);
}

// Many objects: each step is a look-up, so this ends at once.
static void test_many(void **state)
{
	_cleanup_(buf_fini) struct buf out = BUF_INIT(1 << 20);
	char key[32];
	size_t count, total = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "pod/default/p%d", i);
		set(key, key);
	}
	while ((count = differ_take(d, 500, &out)) > 0) {
		differ_ack(d);
		buf_consume(&out, out.len);
		total += count;
	}
	assert_int_equal(total, 20000);
	assert_int_equal(differ_len(d), 20000);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_only_changes), TEST(test_del),    TEST(test_change_while_taken),
		TEST(test_nack),         TEST(test_refuse), TEST(test_refused_is_sent_at_resync),
		TEST(test_resync),       TEST(test_limits), TEST(test_many),
	};

	differ_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
