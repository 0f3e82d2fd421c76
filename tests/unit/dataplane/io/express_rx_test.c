// SPDX-License-Identifier: Apache-2.0
// wrap: recvmmsg
// Reads of the express lane: without recvmmsg, frames that the kernel could not deliver, frames
// longer than a buffer, fewer frames per read while they are large.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/cm.h"
#include "harness/frames.h"
#include "harness/rxlab.h"

static struct rxlab lab;
static int fail_errno; // of every recvmmsg, 0 = none
static unsigned calls, last_want, stretch;

int __real_recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout);
int __wrap_recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout);

int __wrap_recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout)
{
	calls++;
	last_want = n;
	if (fail_errno) {
		errno = fail_errno;
		return -1;
	}
	int r = __real_recvmmsg(fd, msgs, n, flags, timeout);
	for (int i = 0; i < r; i++)
		msgs[i].msg_len += stretch;
	return r;
}

static void test_without_recvmmsg(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_MMSG, 1);
	fail_errno = ENOSYS;
	calls = 0;
	rxlab_send(&lab.a, 0, 100, 60);
	assert_int_equal(rxlab_turn(&lab, 0), PKT_BURST);
	assert_int_equal(rxlab_turn(&lab, 0), 100 - PKT_BURST);
	assert_int_equal(rxlab_turn(&lab, 0), 0);
	assert_int_equal(calls, 1); // it is not asked again
	fail_errno = 0;
	rxlab_close(&lab);
}

static void test_frame_that_the_kernel_lost(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	rxlab_send(&lab.a, 0, 5, 60);
	fail_errno = EINVAL;
	assert_int_equal(rxlab_turn(&lab, 0), 0);
	assert_int_equal(rxlab_drops(&lab, 0, DROP_VNET_BAD_GSO), 1);
	fail_errno = EINTR;
	assert_int_equal(rxlab_turn(&lab, 0), 0);
	fail_errno = 0;
	assert_int_equal(rxlab_turn(&lab, 0), 5);
	assert_int_equal(rxlab_rx_drops(&lab, RXLAB_A), 0);
	rxlab_close(&lab);
}

static void test_cut_frame_is_dropped(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_LANES, 1);
	rxlab_send(&lab.a, 0, 3, 60);
	stretch = PKT_LEN_MAX; // as MSG_TRUNC tells of a frame that did not fit
	assert_int_equal(rxlab_turn(&lab, 0), 0);
	stretch = 0;
	assert_int_equal(rxlab_drops(&lab, RXLAB_A, DROP_RX_TRUNCATED), 3);
	assert_int_equal(lab.c->port[RXLAB_A].rx_packets, 0);
	rxlab_close(&lab);
}

static void test_large_frames_are_read_in_small_batches(void **state)
{
	(void)state;
	const struct frame_spec spec = {
		.src = "10.1.0.1", .dst = "10.1.0.2", .proto = 6, .payload = 60000};
	const struct vnet_hdr vnet = {.flags = VNET_F_NEEDS_CSUM,
				      .gso_type = VNET_GSO_TCPV4,
				      .hdr_len = 54,
				      .gso_size = 1448,
				      .csum_start = 34,
				      .csum_offset = 16};
	uint8_t *big = malloc(FRAME_MAX);
	assert_non_null(big);
	uint32_t len = frame_build(&spec, big);
	rxlab_open(&lab, RX_MODE_LANES, 1);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(netlab_send(&lab.a, big, len, &vnet), 0);
	rxlab_turn(&lab, 0);
	rxlab_send(&lab.a, 0, 200, 60);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(netlab_send(&lab.a, big, len, &vnet), 0);
	unsigned least = PKT_BURST, most = 0;
	while (rxlab_turn(&lab, 0) > 0) {
		least = last_want < least ? last_want : least;
		most = last_want > most ? last_want : most;
	}
	assert_true(least <= 8);
	assert_int_equal(most, PKT_BURST);
	assert_int_equal(lab.got_a, 240);
	free(big);
	rxlab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_recvmmsg),
		cmocka_unit_test(test_frame_that_the_kernel_lost),
		cmocka_unit_test(test_cut_frame_is_dropped),
		cmocka_unit_test(test_large_frames_are_read_in_small_batches),
	};
	if (geteuid() != 0 || rxlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	rxlab_stop(&lab);
	return r;
}
