// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <stdlib.h>

#include "core/port.h"

static unsigned closed;

static void count_close(struct port *port)
{
	(void)port;
	closed++;
}

static const struct port_ops ops = {.close = count_close};

static struct port *make(uint16_t id)
{
	struct port *p = calloc(1, sizeof(*p));
	p->id = id;
	p->ops = &ops;
	return p;
}

static void test_bounds(void **state)
{
	(void)state;
	static const uint16_t bad[] = {0, PORT_MAX, 65535};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct port *p = make(bad[i]);
		assert_int_equal(port_publish(p), -ERANGE);
		assert_null(port_get(bad[i]));
		assert_null(port_unpublish(bad[i]));
		port_free(p);
	}
	port_free(NULL);
}

static void test_publish_and_free(void **state)
{
	(void)state;
	struct port *p = make(PORT_MAX - 1), *twin = make(PORT_MAX - 1);
	assert_int_equal(port_publish(p), 0);
	assert_ptr_equal(port_get(PORT_MAX - 1), p);
	assert_int_equal(port_limit(), PORT_MAX);
	assert_int_equal(port_publish(twin), -EEXIST);
	assert_ptr_equal(port_get(PORT_MAX - 1), p);
	assert_ptr_equal(port_unpublish(PORT_MAX - 1), p);
	assert_null(port_get(PORT_MAX - 1));
	assert_null(port_unpublish(PORT_MAX - 1));
	closed = 0;
	port_free(p);
	port_free(twin);
	assert_int_equal(closed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_publish_and_free),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
