// SPDX-License-Identifier: Apache-2.0
// A weftd that answers one kind of request with one text, for tests of its clients.
#pragma once

#include <stdio.h>

#include "harness/line_peer.h"

#define PEER_CONF_MAX 512

// answers must stay in place as long as the peer lives.
static inline struct line_peer *peer_start(struct line_answer answers[2], const char *request,
					   const char *reply)
{
	answers[0] = (struct line_answer){.request = "\"hello\"", .lines = {LINE_PEER_HELLO}};
	answers[1] = (struct line_answer){
		.request = request, .lines = {reply}, .hang_up = reply == NULL};
	return line_peer_start(answers, 2);
}

// A config that leads to the peer; more begins with a comma or is "". Returns out.
static inline const char *peer_conf(const struct line_peer *peer, const char *more,
				    char out[PEER_CONF_MAX])
{
	snprintf(out, PEER_CONF_MAX,
		 "{\"cniVersion\":\"1.1.0\",\"name\":\"n\",\"runDir\":\"%s\",\"netns\":\"nope\"%s}",
		 line_peer_dir(peer), more);
	return out;
}
