// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"
#include "cni_result.h"
#include "peer.h"

static void says_what_weftd_says(void **state)
{
	static const struct {
		const char *name, *reply; // NULL = weftd hangs up
		unsigned code;
	} cases[] = {
		{"ready", "{\"ok\":true,\"ready\":true}", 0},
		{"not ready", "{\"ok\":true,\"ready\":false,\"code\":50,\"msg\":\"no\"}", 50},
		{"pods are hit", "{\"ok\":true,\"ready\":false,\"code\":51,\"msg\":\"no\"}", 51},
		{"no reason", "{\"ok\":true,\"ready\":false}", 50},
		{"no answer in it", "{\"ok\":true}", 50},
		{"refused", "{\"ok\":false,\"error\":{\"code\":11,\"msg\":\"later\"}}", 50},
		{"half", "{\"ok\":tr", 50},
		{"gone", NULL, 50},
	};

	(void)state;
	call_env("");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line_answer answers[2];
		struct line_peer *peer = peer_start(answers, "\"ready\"", cases[i].reply);
		struct err err = ERR_INIT;
		_free_ char *text = NULL;
		char conf[PEER_CONF_MAX];
		int r = call_verb("STATUS", peer_conf(peer, "", conf), &text, &err);

		line_peer_stop(peer);
		if ((r < 0) != (cases[i].code != 0) || err.code != cases[i].code || text)
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
}

static void asks_a_delegate_only_through_a_path(void **state)
{
	struct line_answer answers[2];
	struct line_peer *peer = peer_start(answers, "\"ready\"", "{\"ok\":true,\"ready\":true}");
	struct err err = ERR_INIT;
	_free_ char *text = NULL;
	char conf[PEER_CONF_MAX];
	int r;

	(void)state;
	call_env("");
	unsetenv("CNI_PATH");
	peer_conf(peer, ",\"ipam\":{\"type\":\"nope\"}", conf);
	r = call_verb("STATUS", conf, &text, &err);
	line_peer_stop(peer);
	assert_true(r < 0);
	assert_int_equal(err.code, CNI_CODE_UNAVAILABLE);
	assert_non_null(strstr(err.text, "nope"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_weftd_says),
		cmocka_unit_test(asks_a_delegate_only_through_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
