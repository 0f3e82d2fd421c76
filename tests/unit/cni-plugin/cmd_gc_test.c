// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"
#include "peer.h"

// The peer knows one exact request: any other ends in an error.
static void sends_the_list_it_was_given(void **state)
{
	static const struct {
		const char *name, *keys, *request;
	} cases[] = {
		{"absent", "", "{\"type\":\"gc\",\"network\":\"n\"}"},
		{"null", ",\"cni.dev/valid-attachments\":null",
		 "{\"type\":\"gc\",\"network\":\"n\",\"valid\":[]}"},
		{"other key", ",\"cni.dev/attachments\":[]",
		 "{\"type\":\"gc\",\"network\":\"n\",\"valid\":[]}"},
		{"entry",
		 ",\"cni.dev/valid-attachments\":[{\"containerID\":\"a\",\"ifname\":\"e\"}]",
		 "\"valid\":[{\"container_id\":\"a\",\"ifname\":\"e\"}]}"},
		{"both keys",
		 ",\"cni.dev/attachments\":[],"
		 "\"cni.dev/valid-attachments\":[{\"ContainerID\":\"a\",\"IfName\":\"e\"}]",
		 "\"valid\":[{\"container_id\":\"a\",\"ifname\":\"e\"}]}"},
	};

	(void)state;
	call_env("");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line_answer answers[2];
		struct line_peer *peer =
			peer_start(answers, cases[i].request, "{\"ok\":true,\"released\":[]}");
		struct err err = ERR_INIT;
		_free_ char *text = NULL;
		char conf[PEER_CONF_MAX];
		int r = call_verb("GC", peer_conf(peer, cases[i].keys, conf), &text, &err);

		line_peer_stop(peer);
		if (r < 0 || text)
			fail_msg("%s: %d, %s", cases[i].name, r, err.text);
	}
}

static void refuses_bad_lists(void **state)
{
	static const char *const keys[] = {
		",\"cni.dev/valid-attachments\":{}",
		",\"cni.dev/valid-attachments\":[1]",
		",\"cni.dev/valid-attachments\":[{\"containerID\":\"a\"}]",
	};

	(void)state;
	call_env("");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct line_answer answers[2];
		struct line_peer *peer = peer_start(answers, "\"gc\"", "{\"ok\":true}");
		struct err err = ERR_INIT;
		_free_ char *text = NULL;
		char conf[PEER_CONF_MAX];
		int r = call_verb("GC", peer_conf(peer, keys[i], conf), &text, &err);

		line_peer_stop(peer);
		if (r >= 0 || err.code != 7)
			fail_msg("%s: %d, code %u, %s", keys[i], r, err.code, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_the_list_it_was_given),
		cmocka_unit_test(refuses_bad_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
