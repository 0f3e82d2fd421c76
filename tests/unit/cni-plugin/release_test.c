// SPDX-License-Identifier: Apache-2.0
#include "release.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cm.h"
#include "cni_result.h"
#include "peer.h"
#include "spool.h"

#define WAIT_MS 10000

static const struct attachment one = {"net", "c1", "eth0"};

static void drop_spool(const char *dir)
{
	char path[128];

	spool_remove(dir, &one, NULL);
	snprintf(path, sizeof(path), "%s/spool", dir);
	rmdir(path);
}

// No row has a link: there is no private namespace.
static void tells_weftd_or_the_spool(void **state)
{
	static const struct {
		const char *name, *reply; // NULL = weftd hangs up
		bool before;              // an entry waits already
		unsigned code;
		bool after;
	} cases[] = {
		{"found", "{\"ok\":true,\"found\":true}", false, 0, false},
		{"not found", "{\"ok\":true,\"found\":false}", false, 0, false},
		{"settles the entry", "{\"ok\":true,\"found\":false}", true, 0, false},
		{"refused", "{\"ok\":false,\"error\":{\"code\":5,\"msg\":\"disk\"}}", false, 5,
		 false},
		{"gone", NULL, false, 0, true},
		{"gone again", NULL, true, 0, true},
		{"half", "{\"ok\":tr", false, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line_answer answers[2];
		struct line_peer *peer = peer_start(answers, "\"detach\"", cases[i].reply);
		const struct cni_conf conf = {.run_dir = line_peer_dir(peer), .netns = "nope"};
		struct err err = ERR_INIT;
		bool after;
		int r;

		if (cases[i].before)
			assert_int_equal(spool_write(conf.run_dir, &one, &err), 0);
		r = release_attachment(&conf, &one, clock_deadline_ns(WAIT_MS), &err);
		after = spool_has(conf.run_dir, &one);
		drop_spool(conf.run_dir);
		line_peer_stop(peer);
		if ((r < 0) != (cases[i].code != 0) || err.code != cases[i].code ||
		    after != cases[i].after)
			fail_msg("%s: %d, code %u, spool %d, %s", cases[i].name, r, err.code,
				 after, err.text);
	}
}

static void asks_for_a_retry_without_a_spool(void **state)
{
	const struct cni_conf conf = {.run_dir = "/dev/null", .netns = "nope"};
	struct err err = ERR_INIT;

	(void)state;
	assert_true(release_attachment(&conf, &one, clock_deadline_ns(WAIT_MS), &err) < 0);
	assert_int_equal(err.code, CNI_CODE_IO);
	// Some runtimes take these words for success.
	assert_null(strstr(err.text, "not found"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_weftd_or_the_spool),
		cmocka_unit_test(asks_for_a_retry_without_a_spool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
