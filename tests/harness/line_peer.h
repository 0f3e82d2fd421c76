// SPDX-License-Identifier: Apache-2.0
// Plays weftd for a client under test: a thread on a real socket that answers from a table.
//
//	static const struct line_answer answers[] = {
//		{"\"hello\"", {LINE_PEER_HELLO}},
//		{"\"get\"", {"{\"ok\":true,\"items\":[]}"}},
//	};
//	struct line_peer *p = line_peer_start(answers, ARRAY_LEN(answers));
//	... line_peer_dir(p) is the client's run dir ...
//	line_peer_stop(p);
//
// One connection at a time; a request that no row matches ends it, and so does a row marked
// hang_up.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LINE_PEER_LINES 4
#define LINE_PEER_HELLO "{\"ok\":true,\"version\":1,\"weftd\":\"9.9.9\"}"

struct line_answer {
	const char *request; // part of the request's text; the first row that matches is taken
	const char *lines[LINE_PEER_LINES]; // sent in order, NULL at the end
	bool hang_up;                       // close behind them
};

struct line_peer;

// Asserts on any failure: it belongs to a test. answers must outlive the peer.
struct line_peer *line_peer_start(const struct line_answer *answers, size_t count);
// Folder that holds weftd.sock.
const char *line_peer_dir(const struct line_peer *p);
// Ends the thread and removes the folder.
void line_peer_stop(struct line_peer *p);
