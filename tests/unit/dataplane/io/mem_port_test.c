// SPDX-License-Identifier: Apache-2.0
// The port without a link: copies, order, refusals, and nothing left behind when it closes.
#include <stdlib.h>
#include <string.h>

#include "core/counters.h"
#include "harness/cm.h"
#include "io/mem_port.h"

static struct counters *counters;

static void test_copies_in_order(void **state)
{
	(void)state;
	struct port *port = calloc(1, sizeof(*port));
	uint8_t data[3][80];
	struct tx_frame frames[3];
	port->id = 3;
	assert_int_equal(mem_port_open(port), 0);
	for (unsigned i = 0; i < 3; i++) {
		memset(data[i], (int)i, sizeof(data[i]));
		frames[i] = (struct tx_frame){
			.data = data[i], .len = 60 + i, .vnet.gso_size = (uint16_t)i};
	}
	mem_port_refuse(port, 1);
	assert_int_equal(port->ops->tx_burst(port, 0, frames, 3, counters), 2);
	assert_int_equal(counters->port[3].drops[DROP_TX_QUEUE_FULL], 1);
	assert_int_equal(counters->port[3].tx_packets, 2);
	assert_int_equal(counters->port[3].tx_bytes, 61 + 62);
	memset(data, 0xff, sizeof(data));
	struct mem_frame *f = mem_port_take(port);
	assert_int_equal(f->len, 61);
	assert_int_equal(f->data[60], 1);
	assert_int_equal(f->vnet.gso_size, 1);
	free(f);
	port_free(port); // one frame is still in it
}

static void test_empty(void **state)
{
	(void)state;
	struct port *port = calloc(1, sizeof(*port));
	assert_int_equal(mem_port_open(port), 0);
	assert_null(mem_port_take(port));
	port_free(port);
}

static int setup(void **state)
{
	(void)state;
	counters = calloc(1, sizeof(*counters));
	return counters ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(counters);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_in_order),
		cmocka_unit_test(test_empty),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
