// SPDX-License-Identifier: Apache-2.0
// A daemon without DPDK and packet threads in namespaces of its own, and clients of its control
// socket in the same thread. Everything else is real: links, journal, tables, event loop.
//
// The process leaves its network and mount namespaces for good. Needs root. One thread.
#pragma once

#include "base/buf.h"
#include "main/control.h"

struct control_world {
	struct daemon *d;
	char dir[64];
};

struct control_client {
	struct control_world *world;
	int sock; // non-blocking
	struct buf in;
};

// 0, or -errno (-EPERM without root). standalone: no agent is waited for.
int control_world_open(struct control_world *w, bool standalone);
void control_world_close(struct control_world *w);
// Runs the event loop until nothing is left to do at once.
void control_world_run(struct control_world *w);

int control_client_open(struct control_world *w, struct control_client *c);
void control_client_close(struct control_client *c);
// Sends text as it is.
void control_client_send(struct control_client *c, const char *text, size_t len);
// Sends a request and returns the next line (valid until the next call), NULL: none came.
const char *control_client_call(struct control_client *c, const char *request);
// The next line that is there, NULL: none.
const char *control_client_line(struct control_client *c);
// The daemon hung up, and every line it sent was taken.
bool control_client_is_closed(struct control_client *c);
// Says hello.
void control_client_hello(struct control_client *c, const char *who);
