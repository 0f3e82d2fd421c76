// SPDX-License-Identifier: Apache-2.0
// Packet sockets: what each option does to the kernel's side, and errors that name the option.
#include <errno.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/cm.h"
#include "harness/netlab.h"
#include "io/psock.h"

static struct netlab lab;
static struct netlab_veth veth;

static int waiting(int fd)
{
	uint8_t buf[2048];
	int n = 0;
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

static void send_one(void)
{
	uint8_t frame[60];
	netlab_frame(frame, sizeof(frame), 1);
	assert_int_equal(netlab_send(&veth, frame, sizeof(frame), NULL), 0);
}

static void test_receives_what_it_should(void **state)
{
	(void)state;
	int fd = psock_open_in(lab.host_fd, NULL);
	assert_true(fd >= 0);
	send_one();
	assert_int_equal(waiting(fd), 0); // not bound
	assert_int_equal(psock_refuse_all(fd, NULL), 0);
	assert_int_equal(psock_bind_all(fd, NULL), 0);
	send_one();
	assert_int_equal(waiting(fd), 0); // refused
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &fd, sizeof(fd)), 0);
	send_one();
	assert_int_equal(waiting(fd), 1);
	close(fd);
	fd = psock_open_in(lab.host_fd, NULL);
	assert_int_equal(psock_bind_tx(fd, veth.ifindex, NULL), 0);
	send_one();
	assert_int_equal(waiting(fd), 0);
	close(fd);
}

static void test_group_gets_a_free_id(void **state)
{
	(void)state;
	int fd[3];
	int64_t first = -1, second = -1;
	for (unsigned i = 0; i < 3; i++) {
		fd[i] = psock_open_in(lab.host_fd, NULL);
		assert_int_equal(psock_bind_all(fd[i], NULL), 0);
	}
	assert_int_equal(psock_join(fd[0], &first, NULL), 0);
	assert_true(first >= 0);
	assert_int_equal(psock_join(fd[1], &second, NULL), 0);
	assert_int_not_equal(first & 0xffff, second & 0xffff);
	assert_int_equal(psock_join(fd[2], &first, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
}

static void test_ring(void **state)
{
	(void)state;
	const struct psock_ring_conf conf = {
		.block_bytes = 128 << 10, .block_count = 4, .retire_ms = 1, .reserve = 6};
	const struct psock_ring_conf odd = {.block_bytes = 1000, .block_count = 4};
	struct err err = ERR_INIT;
	void *mem = NULL;
	int fd = psock_open_in(lab.host_fd, NULL);
	assert_int_equal(psock_make_ring(fd, &odd, &mem, &err), -EINVAL);
	assert_non_null(strstr(err.text, "PACKET_RX_RING"));
	assert_null(mem);
	assert_int_equal(psock_make_ring(fd, &conf, &mem, NULL), 0);
	memset((uint8_t *)mem + (4 << 17) - 64, 0, 64); // mapped writable to its end
	munmap(mem, 4 << 17);
	close(fd);
}

static void test_errors(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	assert_int_equal(psock_set_auxdata(-1, &err), -EBADF);
	assert_non_null(strstr(err.text, "PACKET_AUXDATA"));
	assert_true(psock_open_in(-1, NULL) < 0);
	int fd = psock_open_in(lab.host_fd, NULL);
	assert_int_equal(psock_bind_tx(fd, 99999, NULL), -ENODEV);
	assert_int_equal(psock_attach(fd, -1, NULL), -EBADF);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	return netlab_add(&lab, 1, 0, &veth);
}

static int teardown(void **state)
{
	(void)state;
	netlab_del(&lab, &veth);
	netlab_stop(&lab);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receives_what_it_should),
		cmocka_unit_test(test_group_gets_a_free_id),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_errors),
	};
	if (geteuid() != 0 || netlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
