// SPDX-License-Identifier: Apache-2.0
// Requests of the control socket: from a line to its handler and back to a reply.
//
// control_line and control_closed are the server's callbacks. Handlers (handlers.c) fill a reply or
// an err; the shape of replies and the order of checks is decided here only. Control thread.
#pragma once

#include "api/msg.h"
#include "json/jput.h"
#include "main/daemon.h"

#define CONTROL_LATER 1 // the handler answers by control_answer
#define CONTROL_WHO_MAX 32

// What a connection said of itself.
struct session {
	struct conn *conn;
	struct daemon *daemon;
	bool greeted, is_agent, watches_pods;
	char who[CONTROL_WHO_MAX];
	bool has_id; // of the request in hand
	int64_t id;
};

struct request {
	struct session *session;
	const struct jval *msg;
	int fd; // to ride along with the reply, borrowed; -1 = none
};

// 0, CONTROL_LATER or -errno. reply is inside the reply object.
typedef int control_fn(struct daemon *d, struct request *rq, struct jput *reply, struct err *err);
// Indexed by enum msg_type; complete.
extern control_fn *const control_handlers[MSG_COUNT];

// struct server_conf: a line came; a connection is gone. arg is the struct daemon.
void control_line(struct conn *c, const char *text, size_t len, void *daemon);
// The end of a session: its reservations and its sync die.
void control_closed(struct conn *c, void *daemon);
// Answers the request that was left for later: an error, or what fill writes.
void control_answer(struct session *s, const struct err *err,
		    void (*fill)(struct jput *reply, const void *arg), const void *arg);
// Sends {"event","item"} to everybody who watches pods; fill writes the member "item".
void control_pod_event(struct daemon *d, const char *event, const struct attachment *at);
