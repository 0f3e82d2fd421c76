// SPDX-License-Identifier: Apache-2.0
// Blocking client of weftd's socket, for the CNI binary, weftctl and the agent's tests.
//
//	r = client_open(run_dir, "weftctl", deadline, &c, err);     connects and says hello
//	r = client_call(c, request_text, deadline, &reply, err);    one request, one reply
//
// Every call is bounded by its deadline. A reply with ok=false becomes err (text "msg: details",
// code = error.code) and -EREMOTEIO. A daemon that cannot be reached, hangs up or stays silent is
// -ECONNREFUSED, -ECONNRESET or -ETIMEDOUT; the text names the socket. A reply that is none is
// -EPROTO. After any failure but -EREMOTEIO the connection is of no use any more. One thread.
#pragma once

#include "base/err.h"
#include "json/jget.h"

struct client;

#define API_SOCKET_NAME "weftd.sock" // inside the run directory

// Connects to RUN_DIR/weftd.sock and agrees on the version; who names the program. 0 or -errno.
int client_open(const char *run_dir, const char *who, unsigned long long deadline_ns,
		struct client **ret_client, struct err *err);
// Hangs up and frees. NULL is nothing.
void client_close(struct client *c);
void client_closep(struct client **c);
// request: one JSON object without newline, with "type". Takes nothing; *ret_reply is the caller's.
int client_call(struct client *c, const char *request, unsigned long long deadline_ns,
		struct jdoc **ret_reply, struct err *err);
// The next line that weftd sends by itself (after a watch request). Same results as client_call.
int client_next(struct client *c, unsigned long long deadline_ns, struct jdoc **ret_line,
		struct err *err);
// A descriptor that came with the last reply; the caller takes it. -1: none.
int client_take_fd(struct client *c);
