// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "features/attach/reaper.h"
#include "harness/netlab.h"
#include "netlink/link.h"

#define PAIRS 12

static bool is_there(struct netlab *lab, uint32_t ifindex)
{
	struct link_info info;

	return link_get_by_index(lab->host, ifindex, &info, NULL) == 0;
}

// More links than threads: all go, and the one that is no link harms nobody.
static void test_deletes_all(void **state)
{
	struct netlab *lab = *state;
	struct netlab_veth veths[PAIRS];
	struct reaper *r = NULL;

	assert_int_equal(reaper_open(lab->host_fd, &r, NULL), 0);
	assert_int_equal(reaper_add(r, 4000), 0);
	for (unsigned i = 0; i < PAIRS; i++)
		assert_int_equal(netlab_add(lab, i + 1, 0, &veths[i]), 0);
	for (unsigned i = 0; i < PAIRS; i++)
		assert_int_equal(reaper_add(r, veths[i].ifindex), 0);
	reaper_close(r); // waits for the queue
	for (unsigned i = 0; i < PAIRS; i++) {
		assert_false(is_there(lab, veths[i].ifindex));
		netlab_del(lab, &veths[i]);
	}
}

static void test_out_of_sight(void **state)
{
	struct netlab *lab = *state;
	uint64_t deadline = clock_deadline_ns(5000);
	struct netlab_veth v;
	struct reaper *r = NULL;

	assert_int_equal(netlab_add(lab, 1, 0, &v), 0);
	assert_int_equal(reaper_open(lab->host_fd, &r, NULL), 0);
	assert_int_equal(reaper_add(r, v.ifindex), 0);
	while (is_there(lab, v.ifindex))
		assert_true(clock_now_ns() < deadline);
	reaper_close(r);
	netlab_del(lab, &v);
}

static void test_without_work(void **state)
{
	struct reaper *r = NULL;

	(void)state;
	assert_int_equal(reaper_open(-1, &r, NULL), 0);
	reaper_close(r);
	reaper_close(NULL);
}

int main(void)
{
	struct netlab lab;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_deletes_all, &lab),
		cmocka_unit_test_prestate(test_out_of_sight, &lab),
		cmocka_unit_test(test_without_work),
	};
	int r;

	log_set_fd(open("/dev/null", O_WRONLY));
	if (netlab_start(&lab) < 0) {
		printf("1..1\nneeds root\nnot ok 1 # SKIP reaper\n");
		return 0;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	netlab_stop(&lab);
	return r;
}
