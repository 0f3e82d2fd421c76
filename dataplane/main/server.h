// SPDX-License-Identifier: Apache-2.0
// The control socket: accepts, checks who is there, and keeps every client within bounds.
//
// One request of a connection is handled at a time and in order. A handler answers with conn_send
// before it returns, or calls conn_hold and answers later with conn_send and conn_release;
// meanwhile nothing more is read from that client. Nobody can make the loop wait: output is queued
// up to SERVER_OUT_MAX, reading stops while a client does not take its replies, and each stage has
// a deadline.
//
// Control thread, on libevent. A conn lives until conf.closed was called for it; that never happens
// inside a call of this header.
#pragma once

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define SERVER_CONNS_MAX 256
#define SERVER_OUT_MAX (4u << 20)    // bytes queued for one client; beyond, it is cut off
#define SERVER_OUT_PAUSE (64u << 10) // bytes queued from which its requests wait
#define SERVER_LINE_MS 5000          // for hello, and for the rest of a line that has begun
#define SERVER_WRITE_MS 30000        // for a client to take something of what is queued
#define SERVER_IDLE_MS 5000          // an idle client may be cut off when all places are taken
#define SERVER_RATE 500              // requests a second, without the cheap ones
#define SERVER_BURST 1000

struct server;
struct conn;

struct server_conf {
	struct event_base *base;
	const char *path; // of the socket, borrowed
	uid_t uid;        // whose processes may speak
	void (*line)(struct conn *c, const char *text, size_t len, void *arg);
	void (*closed)(struct conn *c, void *arg);
	void *arg;
};

// The caller holds the lock of the run-dir. 0 or -errno.
int server_open(const struct server_conf *conf, struct server **ret_server, struct err *err);
// Closes all connections (closed is called for each) and removes the socket. NULL is nothing.
void server_close(struct server *s);
unsigned server_conns(const struct server *s);
void server_foreach(struct server *s, void (*fn)(struct conn *c, void *arg), void *arg);

// ---- one connection, for handlers ----

uint64_t conn_id(const struct conn *c); // unique, never 0
// Queues one line (a newline is added). fd rides along, borrowed until the connection ends; -1 =
// none.
void conn_send(struct conn *c, const char *text, size_t len, int fd);
void conn_hold(struct conn *c);
void conn_release(struct conn *c);
// Closes when what is queued was taken.
void conn_finish(struct conn *c);
// Counts the request in hand against the client's rate.
void conn_charge(struct conn *c);
// Not to be cut off while idle: it watches, or is the agent.
void conn_keep(struct conn *c);
void conn_greeted(struct conn *c); // the hello deadline is over
void conn_set_data(struct conn *c, void *data);
void *conn_data(const struct conn *c);
