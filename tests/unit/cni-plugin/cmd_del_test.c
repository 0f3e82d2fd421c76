// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/compiler.h"
#include "call.h"
#include "peer.h"

static void frees_whatever_the_config_says(void **state)
{
	static const struct {
		const char *netns, *more;
		unsigned code;
	} cases[] = {
		{"", "", 0},
		{"/nope", "", 0},
		{"/dev/null", "", 0},
		{"/proc/self/ns/net", "", 0},
		{"/nope", ",\"prevResult\":\"garbage\"", 0},
		{"/nope", ",\"cniVersion\":\"9.9.9\"", 0},
		{"/nope", ",\"mtu\":\"x\",\"args\":1,\"runtimeConfig\":[]", 0},
		{"/nope", ",\"ipam\":{\"type\":\"nope\"}", 104},
		{"/nope", ",\"name\":\"a/b\"", 7},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line_answer answers[2];
		struct line_peer *peer =
			peer_start(answers, "\"detach\"", "{\"ok\":true,\"found\":true}");
		struct err err = ERR_INIT;
		_free_ char *text = NULL;
		char conf[PEER_CONF_MAX];
		int r;

		call_env(cases[i].netns);
		r = call_verb("DEL", peer_conf(peer, cases[i].more, conf), &text, &err);
		line_peer_stop(peer);
		if ((r < 0) != (cases[i].code != 0) || err.code != cases[i].code || text)
			fail_msg("%s %s: %d, code %u, %s", cases[i].netns, cases[i].more, r,
				 err.code, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frees_whatever_the_config_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
