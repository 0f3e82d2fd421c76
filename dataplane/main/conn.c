// SPDX-License-Identifier: Apache-2.0
#include "main/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/line.h"
#include "base/clock.h"
#include "base/log.h"

#define LINES_PER_TURN 16 // then the other connections have their turn
#define TOO_LONG "{\"ok\":false,\"error\":{\"code\":6,\"msg\":\"line longer than 1 MiB\"}}"
#define TOO_SLOW "{\"ok\":false,\"error\":{\"code\":6,\"msg\":\"no complete line in time\"}}"

LOG_MODULE("server");

struct chunk {
	TAILQ_ENTRY(chunk) link;
	size_t len, sent;
	int fd; // borrowed; goes with the first byte
	char data[];
};

struct conn {
	struct conn_owner owner;
	uint64_t id;
	int fd;
	struct line_reader in;
	TAILQ_HEAD(, chunk) out;
	size_t out_bytes;
	struct event *read, *write, *hangup, *turn, *timer;
	bool held, eof, finishing, dead, greeted, kept;
	uint64_t line_ns;   // deadline of an unfinished line or of hello; 0 = none
	uint64_t write_ns;  // deadline of the client's next read; 0 = nothing queued
	uint64_t active_ns; // last request
	uint64_t tokens_ns; // when tokens was brought up to date
	double tokens;
	void *data;
};

uint64_t conn_id(const struct conn *c)
{
	return c->id;
}

void conn_set_data(struct conn *c, void *data)
{
	c->data = data;
}

void *conn_data(const struct conn *c)
{
	return c->data;
}

void conn_keep(struct conn *c)
{
	c->kept = true;
}

void conn_greeted(struct conn *c)
{
	c->greeted = true;
	c->line_ns = 0;
}

uint64_t conn_active_ns(const struct conn *c)
{
	return c->active_ns;
}

bool conn_is_idle(const struct conn *c, uint64_t now_ns)
{
	return !c->kept && !c->held && TAILQ_EMPTY(&c->out) &&
	       now_ns - c->active_ns >= SERVER_IDLE_MS * NS_PER_MS;
}

// The end comes from the loop, so that nobody loses a connection under its feet.
void conn_kill(struct conn *c)
{
	c->dead = true;
	event_active(c->turn, EV_TIMEOUT, 0);
}

// ---- rate ----

static void refill(struct conn *c, uint64_t now_ns)
{
	c->tokens += (double)(now_ns - c->tokens_ns) * SERVER_RATE / NS_PER_SEC;
	if (c->tokens > SERVER_BURST)
		c->tokens = SERVER_BURST;
	c->tokens_ns = now_ns;
}

void conn_charge(struct conn *c)
{
	c->tokens -= 1;
}

// ---- timers ----

// A client that we do not read from cannot finish its line.
static bool is_line_due(const struct conn *c, uint64_t now_ns)
{
	return c->line_ns && now_ns >= c->line_ns && !c->held && c->out_bytes < SERVER_OUT_PAUSE;
}

static uint64_t first_deadline(const struct conn *c)
{
	uint64_t first = UINT64_MAX;

	if (is_line_due(c, UINT64_MAX))
		first = c->line_ns;
	if (c->write_ns && c->write_ns < first)
		first = c->write_ns;
	if (c->tokens < 1 && !c->held) {
		uint64_t ready = c->tokens_ns + NS_PER_SEC / SERVER_RATE;

		first = ready < first ? ready : first;
	}
	return first;
}

static void arm_timer(struct conn *c)
{
	uint64_t now = clock_now_ns(), at = first_deadline(c), left;
	struct timeval tv;

	if (at == UINT64_MAX) {
		event_del(c->timer);
		return;
	}
	left = at > now ? at - now : 0;
	tv = (struct timeval){.tv_sec = (time_t)(left / NS_PER_SEC),
			      .tv_usec = (suseconds_t)(left % NS_PER_SEC / NS_PER_US) + 1};
	event_add(c->timer, &tv);
}

// ---- output ----

static void set_descriptor(struct msghdr *msg, char *control, size_t size, int fd)
{
	struct cmsghdr *cm;

	memset(control, 0, size);
	msg->msg_control = control;
	msg->msg_controllen = size;
	cm = CMSG_FIRSTHDR(msg);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
}

static ssize_t send_chunk(const struct conn *c, const struct chunk *k)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {.iov_base = (char *)k->data + k->sent, .iov_len = k->len - k->sent};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (k->fd >= 0 && k->sent == 0)
		set_descriptor(&msg, control, sizeof(control), k->fd);
	do {
		n = sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static void flush(struct conn *c)
{
	struct chunk *k;

	while (!c->dead && (k = TAILQ_FIRST(&c->out))) {
		ssize_t n = send_chunk(c, k);

		if (n == -EAGAIN)
			break;
		if (n < 0) {
			conn_kill(c);
			return;
		}
		c->write_ns = clock_deadline_ns(SERVER_WRITE_MS);
		c->out_bytes -= (size_t)n;
		k->sent += (size_t)n;
		if (k->sent < k->len)
			break;
		TAILQ_REMOVE(&c->out, k, link);
		free(k);
	}
	if (TAILQ_EMPTY(&c->out)) {
		c->write_ns = 0;
		event_del(c->write);
	} else {
		event_add(c->write, NULL);
	}
}

void conn_send(struct conn *c, const char *text, size_t len, int fd)
{
	struct chunk *k;

	if (c->dead)
		return;
	k = c->out_bytes + len < SERVER_OUT_MAX ? malloc(sizeof(*k) + len + 1) : NULL;
	if (!k) {
		LOG_WARN_LIMIT("client is cut off: it does not read", "queued=%zu", c->out_bytes);
		conn_kill(c);
		return;
	}
	memcpy(k->data, text, len);
	k->data[len] = '\n';
	k->len = len + 1;
	k->sent = 0;
	k->fd = fd;
	if (TAILQ_EMPTY(&c->out))
		c->write_ns = clock_deadline_ns(SERVER_WRITE_MS);
	TAILQ_INSERT_TAIL(&c->out, k, link);
	c->out_bytes += k->len;
	flush(c);
	arm_timer(c);
}

void conn_finish(struct conn *c)
{
	c->finishing = true;
	event_active(c->turn, EV_TIMEOUT, 0);
}

// ---- input ----

static bool can_work(const struct conn *c)
{
	return !c->dead && !c->held && !c->finishing && c->out_bytes < SERVER_OUT_PAUSE &&
	       c->tokens >= 1;
}

// Descriptors that clients send are of no use to any request.
static void drop_descriptors(struct conn *c)
{
	int fd;

	while ((fd = line_reader_take_fd(&c->in)) >= 0)
		close(fd);
}

// True where a line may be left.
static bool handle_lines(struct conn *c)
{
	for (int i = 0; i < LINES_PER_TURN && can_work(c); i++) {
		size_t len;
		const char *line = line_reader_next(&c->in, &len);

		if (!line)
			return false;
		c->active_ns = clock_now_ns();
		if (c->greeted)
			c->line_ns = 0;
		c->owner.line(c, line, len, c->owner.arg);
	}
	return true;
}

static void refuse(struct conn *c, const char *text)
{
	conn_send(c, text, strlen(text), -1);
	conn_finish(c);
}

static void note_unfinished(struct conn *c)
{
	bool unfinished = c->in.in.len > c->in.start;

	if (!c->greeted)
		return;
	if (!unfinished)
		c->line_ns = 0;
	else if (c->line_ns == 0)
		c->line_ns = clock_deadline_ns(SERVER_LINE_MS);
}

static void watch_events(struct conn *c)
{
	if (can_work(c) && !c->eof)
		event_add(c->read, NULL);
	else
		event_del(c->read);
	if (c->held && !c->eof)
		event_add(c->hangup, NULL);
	else
		event_del(c->hangup);
}

// more: a line may be left. Who hangs up while waiting for an answer wants it no more.
static bool is_over(const struct conn *c, bool more)
{
	if (c->eof && c->held)
		return true;
	return TAILQ_EMPTY(&c->out) && (c->finishing || (c->eof && !more));
}

// Does what can be done now and says what is waited for.
static void pump(struct conn *c)
{
	bool more;

	refill(c, clock_now_ns());
	more = handle_lines(c);
	drop_descriptors(c);
	if (!more)
		note_unfinished(c);
	if (more && can_work(c))
		event_active(c->turn, EV_TIMEOUT, 0);
	else if (is_over(c, more))
		c->dead = true;
	if (c->dead) {
		c->owner.gone(c, c->owner.server);
		return;
	}
	watch_events(c);
	arm_timer(c);
}

void conn_hold(struct conn *c)
{
	c->held = true;
}

void conn_release(struct conn *c)
{
	c->held = false;
	event_active(c->turn, EV_TIMEOUT, 0);
}

static void on_read(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	ssize_t n = line_reader_fill(&c->in, fd);

	(void)what;
	if (n == 0)
		c->eof = true;
	else if (n == -EMSGSIZE)
		refuse(c, TOO_LONG);
	else if (n < 0 && n != -EAGAIN)
		c->dead = true;
	pump(c);
}

static void on_write(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	flush(c);
	pump(c);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	pump(arg);
}

// The client went away while it was waiting for an answer.
static void on_hangup(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	c->dead = true;
	pump(c);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	uint64_t now = clock_now_ns();

	(void)fd;
	(void)what;
	if (c->write_ns && now >= c->write_ns) {
		LOG_WARN_LIMIT("client is cut off: it does not read", "queued=%zu", c->out_bytes);
		c->dead = true;
	} else if (is_line_due(c, now)) {
		c->line_ns = 0;
		refuse(c, TOO_SLOW);
	}
	pump(c);
}

static bool make_events(struct conn *c)
{
	struct event_base *base = c->owner.base;

	c->read = event_new(base, c->fd, EV_READ | EV_PERSIST, on_read, c);
	c->write = event_new(base, c->fd, EV_WRITE | EV_PERSIST, on_write, c);
	c->hangup = event_new(base, c->fd, EV_CLOSED | EV_PERSIST, on_hangup, c);
	c->turn = event_new(base, -1, 0, on_turn, c);
	c->timer = event_new(base, -1, 0, on_timer, c);
	return c->read && c->write && c->hangup && c->turn && c->timer;
}

struct conn *conn_new(int fd, uint64_t id, const struct conn_owner *owner)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return NULL;
	}
	c->owner = *owner;
	c->id = id;
	c->fd = fd;
	c->active_ns = c->tokens_ns = clock_now_ns();
	c->tokens = SERVER_BURST;
	c->line_ns = clock_deadline_ns(SERVER_LINE_MS);
	line_reader_init(&c->in);
	TAILQ_INIT(&c->out);
	if (!make_events(c)) {
		conn_free(c);
		return NULL;
	}
	watch_events(c);
	arm_timer(c);
	return c;
}

void conn_free(struct conn *c)
{
	struct event *const events[] = {c->read, c->write, c->hangup, c->turn, c->timer};
	struct chunk *k;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	while ((k = TAILQ_FIRST(&c->out))) {
		TAILQ_REMOVE(&c->out, k, link);
		free(k);
	}
	line_reader_fini(&c->in);
	close(c->fd);
	free(c);
}
