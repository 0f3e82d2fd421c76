// SPDX-License-Identifier: Apache-2.0
// Blocks of a ring made by hand: frames in order, positions, and headers that lie about their
// bounds.
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "harness/cm.h"
#include "io/ring_rx.h"

#define BLOCK 4096u
#define BLOCKS 4u
#define STRIDE 256u
#define MAC 98

static _Alignas(64) uint8_t mem[BLOCK * BLOCKS];
static struct ring_rx ring;

static struct tpacket_hdr_v1 *block_header(unsigned block)
{
	return &((struct tpacket_block_desc *)(mem + block * BLOCK))->hdr.bh1;
}

static struct tpacket3_hdr *frame_header(unsigned block, unsigned i)
{
	return (struct tpacket3_hdr *)(mem + block * BLOCK + 48 + i * STRIDE);
}

// What the kernel leaves in a block of n frames; ifindex numbers them.
static void fill(unsigned block, unsigned n)
{
	struct tpacket_hdr_v1 *h = block_header(block);
	h->num_pkts = n;
	h->offset_to_first_pkt = 48;
	for (unsigned i = 0; i < n; i++) {
		struct tpacket3_hdr *f = frame_header(block, i);
		struct sockaddr_ll *sll = (void *)((uint8_t *)f + TPACKET_ALIGN(sizeof(*f)));
		*f = (struct tpacket3_hdr){
			.tp_next_offset = i + 1 < n ? STRIDE : 0,
			.tp_snaplen = 60,
			.tp_len = 60,
			.tp_mac = MAC,
		};
		sll->sll_ifindex = (int)(block * 100 + i);
	}
	h->block_status = TP_STATUS_USER;
}

static int setup(void **state)
{
	(void)state;
	memset(mem, 0, sizeof(mem));
	ring_init(&ring, mem, BLOCK, BLOCKS);
	return 0;
}

static void test_frames_and_positions(void **state)
{
	(void)state;
	struct rx_frame f[8];
	assert_false(ring_is_ready(&ring));
	assert_true(ring_is_drained(&ring));
	assert_int_equal(ring_read(&ring, f, 8), 0);
	fill(0, 10);
	fill(1, 1);
	assert_int_equal(ring_open_position(&ring), 2);
	assert_true(ring_is_ready(&ring));
	assert_false(ring_is_drained(&ring));
	assert_int_equal(ring_read(&ring, f, 8), 8);
	ring_release(&ring); // not read to its end: stays
	assert_int_equal(ring_position(&ring), 0);
	assert_int_equal(f[7].ifindex, 7);
	assert_ptr_equal(f[7].data, (uint8_t *)frame_header(0, 7) + MAC);
	assert_int_equal(ring_read(&ring, f, 8), 2);
	assert_int_equal(f[1].ifindex, 9);
	assert_int_equal(ring_read(&ring, f, 8), 0); // before the release
	assert_int_equal(block_header(0)->block_status, TP_STATUS_USER);
	ring_release(&ring);
	assert_int_equal(block_header(0)->block_status, TP_STATUS_KERNEL);
	assert_int_equal(ring_read(&ring, f, 8), 1);
	assert_int_equal(f[0].ifindex, 100);
	ring_release(&ring);
	assert_int_equal(ring_position(&ring), 2);
}

static void test_wraps_and_full_ring(void **state)
{
	(void)state;
	struct rx_frame f[8];
	for (unsigned i = 0; i < 3 * BLOCKS; i++) {
		fill(i % BLOCKS, 3);
		assert_int_equal(ring_read(&ring, f, 8), 3);
		assert_int_equal(f[0].ifindex, i % BLOCKS * 100);
		ring_release(&ring);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		fill(i, 1);
	assert_int_equal(ring_open_position(&ring), ring_position(&ring) + BLOCKS);
}

static void test_drained_looks_at_the_open_block(void **state)
{
	(void)state;
	block_header(0)->num_pkts = 1; // being filled, or an old count
	assert_false(ring_is_drained(&ring));
	block_header(0)->num_pkts = 0;
	assert_true(ring_is_drained(&ring));
}

static void test_empty_block_is_given_back(void **state)
{
	(void)state;
	struct rx_frame f[8];
	fill(0, 0);
	assert_int_equal(ring_read(&ring, f, 8), 0);
	ring_release(&ring);
	assert_int_equal(ring_position(&ring), 1);
	assert_int_equal(block_header(0)->block_status, TP_STATUS_KERNEL);
}

enum lie { LIE_MAC_LOW, LIE_MAC_HIGH, LIE_LEN, LIE_NEXT, LIE_COUNT, LIE_FIRST, LIES };

static void tell(enum lie lie)
{
	struct tpacket3_hdr *f = frame_header(0, 1);
	switch (lie) {
	case LIE_MAC_LOW:
		f->tp_mac = 70;
		break;
	case LIE_MAC_HIGH:
		f->tp_mac = 0xffff;
		break;
	case LIE_LEN:
		f->tp_snaplen = BLOCK;
		break;
	case LIE_NEXT:
		f->tp_next_offset = 0xffffff00;
		break;
	case LIE_COUNT:
		block_header(0)->num_pkts = 1000000;
		break;
	case LIE_FIRST:
		block_header(0)->offset_to_first_pkt = BLOCK - 8;
		break;
	case LIES:
		break;
	}
}

// No frame may point outside its block, and the block ends.
static void test_lies_stay_in_the_block(void **state)
{
	for (enum lie lie = 0; lie < LIES; lie++) {
		struct rx_frame f[8];
		setup(state);
		fill(0, 3);
		tell(lie);
		unsigned n, all = 0;
		while ((n = ring_read(&ring, f, 8)) > 0) {
			for (unsigned i = 0; i < n; i++) {
				assert_true(f[i].data >= mem + PKT_HEADROOM);
				assert_true(f[i].data + f[i].len <= mem + BLOCK);
			}
			all += n;
		}
		assert_true(all <= 3);
		ring_release(&ring);
		assert_int_equal(ring_position(&ring), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_frames_and_positions, setup),
		cmocka_unit_test_setup(test_wraps_and_full_ring, setup),
		cmocka_unit_test_setup(test_drained_looks_at_the_open_block, setup),
		cmocka_unit_test_setup(test_empty_block_is_given_back, setup),
		cmocka_unit_test_setup(test_lies_stay_in_the_block, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
