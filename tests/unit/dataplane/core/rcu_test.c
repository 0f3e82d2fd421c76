// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/rcu.h"
#include "harness/eal.h"

static _Atomic unsigned freed;
static _Atomic bool reader_in, reader_go;

static void count_free(void *p)
{
	(void)p;
	atomic_fetch_add(&freed, 1);
}

// Without readers a grace period ends at once, so tables can be tested without EAL.
static void test_without_readers(void **state)
{
	(void)state;
	rcu_defer(count_free, &freed);
	rcu_reap();
	rcu_synchronize();
	assert_int_equal(freed, 1);
}

static void *reader(void *arg)
{
	(void)arg;
	rcu_register(0);
	atomic_store(&reader_in, true);
	while (!atomic_load(&reader_go))
		;
	rcu_quiescent(0);
	rcu_offline(0); // sleeps without holding anybody up
	while (atomic_load(&reader_go))
		;
	rcu_online(0);
	rcu_unregister(0);
	return NULL;
}

static void test_reader_holds_memory(void **state)
{
	(void)state;
	pthread_t t;
	assert_true(test_eal_start() >= 0);
	assert_int_equal(rcu_init(1), 0);
	assert_int_equal(pthread_create(&t, NULL, reader, NULL), 0);
	while (!atomic_load(&reader_in))
		;
	freed = 0;
	rcu_defer(count_free, &freed);
	rcu_reap();
	assert_int_equal(freed, 0); // the reader has not passed a quiescent state
	atomic_store(&reader_go, true);
	rcu_synchronize();
	rcu_reap();
	assert_int_equal(freed, 1);
	rcu_synchronize(); // an offline reader does not hold it up
	atomic_store(&reader_go, false);
	pthread_join(t, NULL);
	rcu_defer(count_free, &freed);
	rcu_fini(); // frees what is left
	assert_int_equal(freed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_readers),
		cmocka_unit_test(test_reader_holds_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
