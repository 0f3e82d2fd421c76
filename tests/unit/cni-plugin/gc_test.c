// SPDX-License-Identifier: Apache-2.0
#include "gc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cm.h"
#include "daemon.h"
#include "harness/line_peer.h"

#define WAIT_MS 10000

// As many entries as do not fit into one request, and one that weftd has.
static struct jdoc *long_list(void)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_array(j, NULL);
	for (int i = 0; i < 8000; i++) {
		char id[65];

		snprintf(id, sizeof(id), "%064d", i);
		jput_object(j, NULL);
		jput_string(j, "containerID", i == 4000 ? "known" : id);
		jput_string(j, "ifname", "eth0");
		jput_end(j);
	}
	jput_end(j);
	return jput_take_doc(j);
}

static int send_list(const struct line_answer *answers, size_t count, struct err *err)
{
	struct line_peer *peer = line_peer_start(answers, count);
	_cleanup_(jdoc_freep) struct jdoc *doc = long_list();
	uint64_t deadline = clock_deadline_ns(WAIT_MS);
	struct client *c = NULL;
	struct jval list = jdoc_root(doc);
	int r = daemon_open(line_peer_dir(peer), deadline, false, &c, err);

	if (r == 0)
		r = gc_send(c, "n", &list, deadline, err);
	daemon_closep(&c);
	line_peer_stop(peer);
	return r;
}

static void shortens_a_long_list(void **state)
{
	static const struct line_answer answers[] = {
		{"\"hello\"", {LINE_PEER_HELLO}, false},
		{"{\"type\":\"get\",\"object\":\"pod\"}",
		 {"{\"ok\":true,\"next\":7,\"items\":[{\"network\":\"other\","
		  "\"container_id\":\"c\",\"ifname\":\"eth0\"}]}"},
		 false},
		{"{\"type\":\"get\",\"object\":\"pod\",\"after\":7}",
		 {"{\"ok\":true,\"items\":[{\"network\":\"n\",\"container_id\":\"known\","
		  "\"ifname\":\"eth0\"},{\"network\":\"n\",\"container_id\":\"unlisted\","
		  "\"ifname\":\"eth0\"}]}"},
		 false},
		{"\"valid\":[{\"container_id\":\"known\",\"ifname\":\"eth0\"}]}",
		 {"{\"ok\":true}"},
		 false},
	};
	struct err err = ERR_INIT;

	(void)state;
	if (send_list(answers, ARRAY_LEN(answers), &err) != 0)
		fail_msg("%s", err.text);
}

// A list that cannot be shortened must not become an empty one.
static void fails_without_weftds_list(void **state)
{
	static const struct line_answer pages[] = {
		{"\"get\"", {"{\"ok\":true,\"items\":[1]}"}, false},
		{"\"get\"", {"{\"ok\":true,\"items\":[{\"container_id\":\"a\"}]}"}, false},
		{"\"get\"", {"{\"ok\":true,\"items\":[],\"next\":1}"}, false}, // for ever
		{"\"get\"", {"{\"ok\":true}"}, false},
		{"\"get\"", {NULL}, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		const struct line_answer answers[] = {
			{"\"hello\"", {LINE_PEER_HELLO}, false},
			{"\"gc\"", {"{\"ok\":true}"}, false},
			pages[i],
		};
		struct err err = ERR_INIT;

		if (send_list(answers, ARRAY_LEN(answers), &err) >= 0)
			fail_msg("page %zu was taken", i);
		assert_true(err.text[0] != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortens_a_long_list),
		cmocka_unit_test(fails_without_weftds_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
