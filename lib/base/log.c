// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

#define LINE_MAX_BYTES 2048
#define TAIL_MAX 2048

// The one state that lib/ keeps for the whole process.
static _Atomic int log_level_now = LOG_LEVEL_INFO;
static _Atomic bool log_json;
static _Atomic int log_fd = STDERR_FILENO;
static _Atomic uint64_t log_lost_lines;

struct level_name {
	const char *text, *name;
};

static const struct level_name level_names[] = {
	[LOG_LEVEL_ERR] = {"ERR", "err"},
	[LOG_LEVEL_WARN] = {"WARN", "warn"},
	[LOG_LEVEL_INFO] = {"INFO", "info"},
	[LOG_LEVEL_DEBUG] = {"DEBUG", "debug"},
};

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&log_level_now, (int)level, memory_order_relaxed);
}

void log_set_json(bool json)
{
	atomic_store_explicit(&log_json, json, memory_order_relaxed);
}

void log_set_fd(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		fcntl(fd, F_SETFL, flags | O_APPEND);
	atomic_store_explicit(&log_fd, fd, memory_order_relaxed);
}

int log_level_parse(const char *text, enum log_level *ret_level)
{
	static const struct {
		const char *text;
		enum log_level level;
	} names[] = {
		{"err", LOG_LEVEL_ERR},      {"error", LOG_LEVEL_ERR}, {"warn", LOG_LEVEL_WARN},
		{"warning", LOG_LEVEL_WARN}, {"info", LOG_LEVEL_INFO}, {"debug", LOG_LEVEL_DEBUG},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(text, names[i].text) == 0) {
			*ret_level = names[i].level;
			return 0;
		}
	}
	return -EINVAL;
}

bool log_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&log_level_now, memory_order_relaxed);
}

uint64_t log_lost(void)
{
	return atomic_load_explicit(&log_lost_lines, memory_order_relaxed);
}

bool log_limit(_Atomic uint64_t *last, uint64_t interval_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t seen = atomic_load_explicit(last, memory_order_relaxed);

	if (seen != 0 && now - seen < interval_ns)
		return false;
	// Of several threads that come together, one logs.
	return atomic_compare_exchange_strong_explicit(last, &seen, now, memory_order_relaxed,
						       memory_order_relaxed);
}

// A line under construction. What does not fit in whole (a character, an escape) ends it.
struct line {
	char s[LINE_MAX_BYTES];
	size_t len, max;
	bool full;
};

static void line_add(struct line *l, const char *s, size_t size)
{
	if (l->full || size > l->max - l->len) {
		l->full = true;
		return;
	}
	memcpy(l->s + l->len, s, size);
	l->len += size;
}

static void line_add_text(struct line *l, const char *s)
{
	line_add(l, s, strlen(s));
}

// C0, DEL and C1 controls: a terminal or a line-wise reader must never see them.
static bool is_control(const char *s, size_t seq)
{
	unsigned char c = (unsigned char)s[0];

	return c < 0x20 || c == 0x7f || (seq == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0);
}

static void line_add_escape(struct line *l, const char *s, size_t seq, bool json)
{
	char out[16];
	unsigned c = (unsigned char)s[seq > 1 ? 1 : 0];

	// Of a C1 control (c2 80..9f) the second byte is the code point.
	if (!json)
		snprintf(out, sizeof(out), "\\x%02x", c);
	else if (seq == 0)
		snprintf(out, sizeof(out), "\\ufffd");
	else
		snprintf(out, sizeof(out), "\\u%04x", c);
	line_add_text(l, out);
}

static void line_add_value(struct line *l, const char *s, size_t size, bool json)
{
	for (size_t i = 0; i < size && !l->full;) {
		size_t seq = utf8_seq(s + i, size - i);
		if (seq == 0 || is_control(s + i, seq)) {
			line_add_escape(l, s + i, seq, json);
		} else if (json && (s[i] == '"' || s[i] == '\\')) {
			line_add(l, (const char[]){'\\', s[i]}, 2);
		} else {
			line_add(l, s + i, seq);
		}
		i += seq > 0 ? seq : 1;
	}
}

struct span {
	const char *s;
	size_t len;
};

static void line_add_member(struct line *l, struct span key, struct span value)
{
	size_t overhead = key.len + strlen(",\"\":\"\"");

	// Room for the closing quote is kept, so that a cut line stays JSON.
	if (l->full || overhead > l->max - l->len) {
		l->full = true;
		return;
	}
	line_add_text(l, l->len > 1 ? ",\"" : "\"");
	line_add(l, key.s, key.len);
	line_add_text(l, "\":\"");
	l->max--;
	line_add_value(l, value.s, value.len, true);
	l->max++;
	l->s[l->len++] = '"';
}

static void line_add_string(struct line *l, const char *key, const char *value)
{
	line_add_member(l, (struct span){key, strlen(key)}, (struct span){value, strlen(value)});
}

// The next `key=` of a tail's format; *fmt moves behind it. Keys are taken from the format, which
// the program wrote, so that no value can make one up.
static bool next_key(const char **fmt, struct span *ret_key)
{
	static const char key_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	for (const char *p = *fmt; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		size_t len = strspn(p, key_chars);
		if (len > 0 && p[len] == '=') {
			*ret_key = (struct span){p, len};
			*fmt = p + len + 1;
			return true;
		}
	}
	return false;
}

// Where the next value of a formatted tail ends: at " key=", or at the end of text.
static const char *find_key(const char *text, struct span key)
{
	for (const char *p = strchr(text, ' '); p; p = strchr(p + 1, ' '))
		if (strncmp(p + 1, key.s, key.len + 1) == 0)
			return p;
	return NULL;
}

static void line_add_tail(struct line *l, const char *fmt, const char *tail)
{
	struct span key, next;

	if (tail[0] == '\0')
		return;
	if (!next_key(&fmt, &key) || strncmp(tail, key.s, key.len + 1) != 0) {
		line_add_string(l, "detail", tail);
		return;
	}
	for (;;) {
		const char *value = tail + key.len + 1;
		const char *end = next_key(&fmt, &next) ? find_key(value, next) : NULL;
		size_t size = end ? (size_t)(end - value) : strlen(value);
		line_add_member(l, key, (struct span){value, size});
		if (!end)
			return;
		tail = end + 1;
		key = next;
	}
}

struct record {
	enum log_level level;
	const char *module, *event, *fmt, *tail;
	char time[32];
};

static void line_make_json(struct line *l, const struct record *r)
{
	l->max = sizeof(l->s) - strlen("}\n");
	line_add_text(l, "{");
	line_add_string(l, "ts", r->time);
	line_add_string(l, "level", level_names[r->level].name);
	line_add_string(l, "module", r->module);
	line_add_string(l, "msg", r->event);
	line_add_tail(l, r->fmt, r->tail);
	l->s[l->len++] = '}';
	l->s[l->len++] = '\n';
}

static void line_make_text(struct line *l, const struct record *r)
{
	const char *const parts[] = {
		r->time, " ",      level_names[r->level].text,    " ",    r->module,
		": ",    r->event, r->tail[0] != '\0' ? " " : "", r->tail};

	l->max = sizeof(l->s) - strlen("\n");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		line_add_value(l, parts[i], strlen(parts[i]), false);
	l->s[l->len++] = '\n';
}

// One write that does not wait. poll(2) alone is not enough: another writer of the same pipe may
// take the room in between.
static ssize_t write_nowait(int fd, const struct line *l)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	struct iovec iov = {.iov_base = (void *)l->s, .iov_len = l->len};
	struct stat st;

	if (fstat(fd, &st) < 0 || poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT))
		return -1;
	if (S_ISSOCK(st.st_mode))
		return send(fd, l->s, l->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (S_ISFIFO(st.st_mode)) {
		ssize_t n = pwritev2(fd, &iov, 1, -1, RWF_NOWAIT);
		if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL))
			return n;
	}
	return write(fd, l->s, l->len);
}

void log_write(enum log_level level, const char *module, const char *event, const char *tail, ...)
{
	struct record r = {.level = level, .module = module, .event = event, .fmt = tail};
	char text[TAIL_MAX];
	struct line l;
	va_list args;
	int saved = errno;

	va_start(args, tail);
	if (vsnprintf(text, sizeof(text), tail, args) < 0)
		text[0] = '\0';
	va_end(args);
	r.tail = text;
	clock_format(clock_wall_ns(), r.time, sizeof(r.time));
	l.len = 0;
	l.full = false;
	if (atomic_load_explicit(&log_json, memory_order_relaxed))
		line_make_json(&l, &r);
	else
		line_make_text(&l, &r);
	if (write_nowait(atomic_load_explicit(&log_fd, memory_order_relaxed), &l) != (ssize_t)l.len)
		atomic_fetch_add_explicit(&log_lost_lines, 1, memory_order_relaxed);
	errno = saved;
}
