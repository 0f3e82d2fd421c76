// SPDX-License-Identifier: Apache-2.0
// wrap: syscall
// Kernels that lack what the lanes need: AUTO falls back and says why, LANES fails, nothing is left
// open.
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "harness/cm.h"
#include "harness/rxlab.h"

static struct rxlab lab;
static unsigned bpf_calls,
	fail_from; // the call of bpf(2) that fails, and those behind it; 0 = none
static int fail_errno;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	va_list ap;
	long args[6];
	va_start(ap, number);
	for (unsigned i = 0; i < ARRAY_LEN(args); i++)
		args[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf && ++bpf_calls >= fail_from && fail_from > 0) {
		errno = fail_errno;
		return -1;
	}
	return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static unsigned open_fds(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_auto_falls_back_at_every_call(void **state)
{
	(void)state;
	static const int errnos[] = {EPERM, ENOSYS, EINVAL, ENOMEM};
	unsigned before = open_fds();
	for (unsigned i = 0; i < 16; i++) {
		bpf_calls = 0;
		fail_from = 1 + i / 4;
		fail_errno = errnos[i % 4];
		rxlab_open(&lab, RX_MODE_AUTO, 1);
		if (bpf_calls < fail_from)
			break; // all calls went through
		assert_int_equal(rx_group_mode(lab.g), RX_MODE_MMSG);
		assert_non_null(strstr(rx_group_fallback_reason(lab.g), "eBPF"));
		rxlab_send(&lab.a, 0, 20, 60);
		rxlab_send(&lab.b, 0, 20, 60);
		assert_int_equal(rxlab_turn(&lab, 0), 40);
		assert_int_equal(rxlab_drops(&lab, 0, DROP_RX_UNKNOWN_PORT), 0);
		rxlab_close(&lab);
		assert_int_equal(open_fds(), before);
	}
	fail_from = 0;
}

static void test_lanes_fail_where_asked_for(void **state)
{
	(void)state;
	struct rx_conf conf = {.netns_fd = lab.net.host_fd, .workers = 1, .mode = RX_MODE_LANES};
	struct rx_group *g = NULL;
	struct err err = ERR_INIT;
	bpf_calls = 0;
	fail_from = 1;
	fail_errno = EPERM;
	assert_int_equal(rx_group_open(&conf, &g, &err), -EPERM);
	assert_null(g);
	assert_non_null(strstr(err.text, "eBPF"));
	fail_from = 0;
}

static void test_lanes_say_nothing(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_AUTO, 2);
	assert_int_equal(rx_group_mode(lab.g), RX_MODE_LANES);
	assert_string_equal(rx_group_fallback_reason(lab.g), "");
	rxlab_close(&lab);
}

// Without a group worker 0 has all ports; others receive nothing and sleep.
static void test_workers_without_lanes(void **state)
{
	(void)state;
	rxlab_open(&lab, RX_MODE_MMSG, 2);
	rxlab_send(&lab.a, 0, 5, 60);
	rxlab_send(&lab.b, 0, 5, 60);
	assert_int_equal(rxlab_turn(&lab, 1), 0);
	rx_wait(rx_group_worker(lab.g, 1), 1);
	assert_int_equal(rxlab_turn(&lab, 0), 10);
	assert_int_equal(lab.got_b, 5);
	rxlab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_auto_falls_back_at_every_call),
		cmocka_unit_test(test_lanes_fail_where_asked_for),
		cmocka_unit_test(test_lanes_say_nothing),
		cmocka_unit_test(test_workers_without_lanes),
	};
	if (geteuid() != 0 || rxlab_start(&lab) < 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	rxlab_stop(&lab);
	return r;
}
