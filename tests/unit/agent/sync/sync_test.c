// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/sync/daemon.h"

#include "sync/sync.h"

struct world {
	struct event_base *base;
	struct daemon daemon;
	struct differ *differ;
	struct sync *sync;
	struct sync_hooks hooks;
	unsigned reports, readies, not_readies, forgets;
	struct buf refused; // "key " each
	const char *wanted;
};

static struct world world;

static char *make_report(void *arg)
{
	((struct world *)arg)->reports++;
	return strdup("{\"type\":\"report\",\"synced\":true}");
}

static void on_ready(void *arg, bool is_ready, const char *why)
{
	struct world *w = arg;

	assert_string_equal(why, is_ready ? "" : "soon");
	*(is_ready ? &w->readies : &w->not_readies) += 1;
}

static void on_refused(void *arg, const char *key, const char *why)
{
	struct world *w = arg;

	if (!key) {
		w->forgets++;
		return;
	}
	assert_string_equal(why, "bad op");
	assert_int_equal(buf_addf(&w->refused, "%s ", key), 0);
}

static int setup(void **state)
{
	struct world *w = &world;

	if (tmpdir_setup(state) < 0)
		return -1;
	*w = (struct world){0};
	w->base = event_base_new();
	w->differ = differ_new();
	w->refused = BUF_INIT(1 << 16);
	daemon_init(&w->daemon, w->base);
	w->hooks = (struct sync_hooks){
		.report = make_report, .ready = on_ready, .refused = on_refused, .arg = w};
	assert_int_equal(sync_new(w->base, ".", w->differ, &w->hooks, &w->sync), 0);
	sync_start(w->sync);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = &world;

	sync_free(w->sync);
	differ_free(w->differ);
	daemon_fini(&w->daemon);
	buf_fini(&w->refused);
	event_base_free(w->base);
	return tmpdir_teardown(state);
}

static const char *text_of(const struct buf *b)
{
	return b->data ? b->data : "";
}

static bool has_log(void *arg)
{
	struct world *w = arg;

	return strstr(text_of(&w->daemon.log), w->wanted);
}

// Waits until the daemon's log holds the text.
static void expect(const char *wanted)
{
	world.wanted = wanted;
	loop_until(world.base, has_log, &world);
}

static void forget_log(void)
{
	buf_consume(&world.daemon.log, world.daemon.log.len);
	buf_consume(&world.daemon.ops, world.daemon.ops.len);
}

static void set(const char *name, int version)
{
	char key[64], text[128];

	snprintf(key, sizeof(key), "pod/default/%s", name);
	snprintf(text, sizeof(text), "{\"op\":\"set\",\"name\":\"%s\",\"v\":%d}", name, version);
	assert_int_equal(differ_set(world.differ, key, strdup(text)), 0);
	sync_kick(world.sync);
}

static void del(const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "pod/default/%s", name);
	assert_int_equal(differ_del(world.differ, key, strdup("{\"op\":\"del\"}")), 0);
	sync_kick(world.sync);
}

// Nothing is begun before the source was read: an end-sync would drop what it did not see yet.
static void test_waits_for_source(void **state)
{
	(void)state;
	daemon_start(&world.daemon);
	set("a", 1);
	expect("| hello report ready ");
	loop_for(world.base, 50);
	assert_null(strstr(text_of(&world.daemon.log), "begin"));
	sync_set_complete(world.sync);
	expect("begin-sync apply:1 end-sync ");
	assert_true(sync_stats_get(world.sync)->is_connected);
	expect("end-sync ready ");
	assert_true(sync_stats_get(world.sync)->is_synced);
}

static void test_empty_source(void **state)
{
	(void)state;
	daemon_start(&world.daemon);
	sync_set_complete(world.sync);
	expect("| hello begin-sync end-sync report ready ");
	assert_int_equal(world.reports, 1);
}

static void start_with(const char *names)
{
	daemon_start(&world.daemon);
	for (const char *p = names; *p; p++)
		set((char[]){*p, '\0'}, 1);
	sync_set_complete(world.sync);
	expect("end-sync report ready ");
	forget_log();
}

static void test_only_changes(void **state)
{
	(void)state;
	start_with("abc");
	set("b", 2);
	set("a", 2);
	set("a", 1); // back again
	del("c");
	expect("apply:2 ");
	assert_string_equal(text_of(&world.daemon.ops),
			    "{\"op\":\"set\",\"name\":\"b\",\"v\":2}\n{\"op\":\"del\"}\n");
	forget_log();
	sync_report_due(world.sync);
	sync_report_due(world.sync);
	expect("report ");
	loop_for(world.base, 50);
	assert_string_equal(text_of(&world.daemon.log), "report ");
}

static void test_batches(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 1200; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		set(name, 1);
	}
	sync_set_complete(world.sync);
	daemon_start(&world.daemon);
	expect("| hello begin-sync apply:500 apply:500 apply:200 end-sync ");
}

// The daemon goes away in the middle of the first apply, later it is another process.
static void test_reconnect(void **state)
{
	(void)state;
	world.daemon.hang_up = "apply";
	daemon_start(&world.daemon);
	set("a", 1);
	sync_set_complete(world.sync);
	expect("| hello begin-sync apply:1 | hello begin-sync apply:1 end-sync ");
	expect("ready ");
	forget_log();
	daemon_stop(&world.daemon);
	loop_for(world.base, 20);
	assert_false(sync_stats_get(world.sync)->is_connected);
	set("b", 1);
	daemon_start(&world.daemon);
	expect("| hello begin-sync apply:2 end-sync report ready ");
	assert_int_equal(sync_stats_get(world.sync)->resyncs, 2);
	forget_log();
	world.daemon.hang_up = "end-sync";
	daemon_stop(&world.daemon);
	daemon_start(&world.daemon);
	expect("end-sync | hello begin-sync apply:2 end-sync ");
}

// A deletion that no daemon heard of is made good by the resync.
static void test_deleted_while_away(void **state)
{
	(void)state;
	start_with("ab");
	daemon_stop(&world.daemon);
	loop_for(world.base, 20);
	del("a");
	daemon_start(&world.daemon);
	expect("| hello begin-sync apply:1 end-sync ");
	assert_non_null(strstr(text_of(&world.daemon.ops), "\"b\""));
}

static void test_refused(void **state)
{
	(void)state;
	world.daemon.refuse = "\"name\":\"c\"";
	start_with("abcdefgh");
	assert_string_equal(text_of(&world.refused), "pod/default/c ");
	assert_int_equal(world.forgets, 1);
	assert_int_equal(sync_stats_get(world.sync)->refused, 1);
	set("c", 1); // no news
	set("d", 2);
	expect("apply:1 ");
	world.daemon.refuse = NULL;
	forget_log();
	set("c", 2);
	expect("apply:1 ");
	assert_non_null(strstr(text_of(&world.daemon.ops), "\"c\""));
}

static void test_all_others_arrive(void **state)
{
	(void)state;
	world.daemon.refuse = "\"name\":\"c\"";
	daemon_start(&world.daemon);
	for (const char *p = "abcdefgh"; *p; p++)
		set((char[]){*p, '\0'}, 1);
	sync_set_complete(world.sync);
	expect("end-sync ");
	for (const char *p = "abdefgh"; *p; p++)
		assert_non_null(strstr(text_of(&world.daemon.ops), (char[]){'"', *p, '"', '\0'}));
	assert_null(strstr(text_of(&world.daemon.ops), "\"c\""));
}

static void test_busy(void **state)
{
	(void)state;
	world.daemon.busy = "apply";
	daemon_start(&world.daemon);
	set("a", 1);
	set("b", 1);
	sync_set_complete(world.sync);
	expect("begin-sync apply:2 apply:2 end-sync ");
	assert_string_equal(text_of(&world.refused), "");
	forget_log();
	world.daemon.busy = "report";
	sync_report_due(world.sync);
	expect("report report ");
}

static void test_garbage(void **state)
{
	(void)state;
	start_with("a");
	world.daemon.garbage = "report";
	sync_report_due(world.sync);
	expect("report | hello begin-sync apply:1 end-sync ");
}

static void test_errors(void **state)
{
	(void)state;
	world.daemon.fails = "hello";
	daemon_start(&world.daemon);
	sync_set_complete(world.sync);
	expect("| hello | hello | hello ");
	world.daemon.fails = "end-sync";
	expect("end-sync | hello begin-sync end-sync ");
	world.daemon.fails = "report";
	expect("end-sync report ready ");
}

static void test_ready_is_asked_again(void **state)
{
	(void)state;
	world.daemon.not_ready = true;
	start_with("a");
	expect("ready ready ");
	assert_int_equal(world.readies, 0);
	world.daemon.not_ready = false;
	forget_log();
	expect("ready ");
	loop_for(world.base, SYNC_READY_MS + 100);
	assert_string_equal(text_of(&world.daemon.log), "ready ");
	assert_int_equal(world.readies, 1);
}

// A line nobody asked for.
static void test_unasked(void **state)
{
	(void)state;
	start_with("a");
	assert_int_equal(
		line_send(world.daemon.fd, "{\"ok\":true}", 11, -1, clock_deadline_ns(1000)), 0);
	expect("| hello begin-sync ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_waits_for_source),
		TEST(test_empty_source),
		TEST(test_only_changes),
		TEST(test_batches),
		TEST(test_reconnect),
		TEST(test_deleted_while_away),
		TEST(test_refused),
		TEST(test_all_others_arrive),
		TEST(test_busy),
		TEST(test_garbage),
		TEST(test_errors),
		TEST(test_ready_is_asked_again),
		TEST(test_unasked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
