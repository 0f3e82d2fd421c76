// SPDX-License-Identifier: Apache-2.0
// Output stage over memory ports: order, dirty list, refusals, and put = sent + drops + pending at
// any moment.
#include <stdlib.h>
#include <string.h>

#include "harness/cm.h"
#include "io/mem_port.h"
#include "io/output.h"

#define PORTS 5

static struct counters *counters;
static struct port *ports[PORTS];
static uint8_t frame_mem[VNET_HDR_LEN + 64];

static uint64_t sent_sum(void)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < PORTS; i++)
		sum += counters->port[ports[i]->id].tx_packets;
	return sum;
}

static uint64_t drop_sum(void)
{
	uint64_t sum = 0;
	for (unsigned p = 0; p < PORT_MAX; p++)
		for (unsigned r = 0; r < DROP_COUNT; r++)
			sum += counters->port[p].drops[r];
	return sum;
}

static int setup(void **state)
{
	(void)state;
	counters = calloc(1, sizeof(*counters));
	for (unsigned i = 0; i < PORTS; i++) {
		ports[i] = calloc(1, sizeof(*ports[i]));
		if (!counters || !ports[i])
			return -1;
		ports[i]->id = (uint16_t)(100 + i);
		if (mem_port_open(ports[i]) < 0 || port_publish(ports[i]) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PORTS; i++)
		port_free(port_unpublish((uint16_t)(100 + i)));
	free(counters);
	return 0;
}

static void put(struct output *o, uint16_t port, uint32_t len)
{
	struct vnet_hdr none = {0};
	output_put(o, port, frame_mem + VNET_HDR_LEN, len, &none);
}

static void test_keeps_order_and_sends_full_buffers(void **state)
{
	(void)state;
	struct output *o = output_new(0, counters);
	for (uint32_t i = 0; i < 150; i++)
		put(o, 100, 14 + i % 50);
	assert_int_equal(output_pending(o), 150 - 2 * PKT_BURST);
	assert_int_equal(counters->port[100].tx_packets, 2 * PKT_BURST);
	output_flush(o);
	assert_int_equal(output_pending(o), 0);
	for (uint32_t i = 0; i < 150; i++) {
		struct mem_frame *f = mem_port_take(ports[0]);
		assert_non_null(f);
		assert_int_equal(f->len, 14 + i % 50);
		free(f);
	}
	assert_null(mem_port_take(ports[0]));
	output_free(o);
}

static void test_every_frame_is_sent_dropped_or_pending(void **state)
{
	(void)state;
	struct output *o = output_new(0, counters);
	uint64_t put_count = 0, base = sent_sum() + drop_sum();
	unsigned seed = 1;
	for (unsigned i = 0; i < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		unsigned what = seed >> 16;
		if (what % 97 == 0)
			output_flush(o);
		else if (what % 89 == 0)
			mem_port_refuse(ports[what % PORTS], what % 7);
		// Some go to ids that no port has, or could have.
		uint16_t port = what % 53 == 0 ? 900 : what % 59 == 0 ? 60000 : 100 + what % PORTS;
		put(o, port, 64);
		put_count++;
		assert_int_equal(put_count, sent_sum() + drop_sum() - base + output_pending(o));
	}
	output_flush(o);
	assert_int_equal(output_pending(o), 0);
	assert_int_equal(put_count, sent_sum() + drop_sum() - base);
	output_free(o);
}

static void test_port_removed_with_frames_queued(void **state)
{
	(void)state;
	struct output *o = output_new(0, counters);
	uint64_t before = counters->port[101].drops[DROP_TX_NO_PORT];
	for (unsigned i = 0; i < 7; i++)
		put(o, 101, 64);
	struct port *gone = port_unpublish(101);
	output_flush(o);
	assert_int_equal(counters->port[101].drops[DROP_TX_NO_PORT] - before, 7);
	assert_int_equal(port_publish(gone), 0);
	output_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_order_and_sends_full_buffers),
		cmocka_unit_test(test_every_frame_is_sent_dropped_or_pending),
		cmocka_unit_test(test_port_removed_with_frames_queued),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
