// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/objects.h"

#include "model/store.h"

#define NODE_WITH_IP                                                                    \
	"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"status\":{\"addresses\":[" \
	"{\"type\":\"InternalIP\",\"address\":\"192.0.2.11\"}]}}"
#define NODE_WITHOUT                                                                   \
	"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"uid\":\"u\"},\"status\":{" \
	"\"addresses\":[{\"type\":\"Hostname\",\"address\":\"n1\"}]}}"
#define NODE_MOVED                                                                      \
	"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"status\":{\"addresses\":[" \
	"{\"type\":\"InternalIP\",\"address\":\"192.0.2.13\"}]}}"

static int set(struct store *s, const char *text)
{
	_cleanup_(object_unrefp) struct object *obj = object_from(text);

	return store_set(s, obj);
}

static const char *first_ip(struct store *s, char out[IPADDR_TEXT_MAX])
{
	const struct object *obj = store_get(s, OBJECT_NODE, "node/n1");

	return obj && obj->node.ips.count == 1 ? ipaddr_format(&obj->node.ips.at[0], out) : "";
}

static void test_set_and_del(void **state)
{
	_cleanup_(store_freep) struct store *s = store_new();

	(void)state;
	assert_int_equal(set(s, NODE_WITH_IP), STORE_CHANGED);
	assert_int_equal(set(s, NODE_WITH_IP), STORE_SAME);
	assert_int_equal(store_len(s, OBJECT_NODE), 1);
	assert_int_equal(store_len(s, OBJECT_POD), 0);
	assert_non_null(store_get(s, OBJECT_NODE, "node/n1"));
	assert_null(store_get(s, OBJECT_POD, "node/n1"));
	assert_false(store_del(s, OBJECT_POD, "node/n1"));
	assert_true(store_del(s, OBJECT_NODE, "node/n1"));
	assert_false(store_del(s, OBJECT_NODE, "node/n1"));
	store_free(NULL);
}

static void test_same_object_again(void **state)
{
	_cleanup_(store_freep) struct store *s = store_new();
	_cleanup_(object_unrefp) struct object *obj = object_from(NODE_WITH_IP);

	(void)state;
	assert_int_equal(store_set(s, obj), STORE_CHANGED);
	assert_int_equal(store_set(s, obj), STORE_SAME);
	assert_int_equal(obj->refs, 2);
}

// A node that reports a Hostname only, or nothing, keeps the address it had.
static void test_addresses_are_kept(void **state)
{
	_cleanup_(store_freep) struct store *s = store_new();
	char ip[IPADDR_TEXT_MAX];

	(void)state;
	set(s, NODE_WITH_IP);
	assert_int_equal(set(s, NODE_WITHOUT), STORE_CHANGED); // the uid is new
	assert_string_equal(first_ip(s, ip), "192.0.2.11");
	assert_int_equal(set(s, NODE_WITHOUT), STORE_SAME);
	assert_int_equal(set(s, NODE_MOVED), STORE_CHANGED);
	assert_string_equal(first_ip(s, ip), "192.0.2.13");
	store_del(s, OBJECT_NODE, "node/n1");
	set(s, NODE_WITHOUT);
	assert_string_equal(first_ip(s, ip), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_del),
		cmocka_unit_test(test_same_object_again),
		cmocka_unit_test(test_addresses_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
