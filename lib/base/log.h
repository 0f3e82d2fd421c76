// SPDX-License-Identifier: Apache-2.0
// Leveled log lines to stderr or a file, as text or one JSON object a line.
//
//	LOG_MODULE("attach");                                   once per .c file
//	LOG_INFO("port opened", "port=%u name=%s", id, name);   event, then key=value tail
//	LOG_WARN_LIMIT("bad frame", "port=%u", id);             at most 1 a second per call site
//
// ERR = an operator must act. WARN = degraded, handled. INFO = life cycle. DEBUG = per request.
// Text line: `2026-01-02T03:04:05.678Z WARN attach: port opened port=3 name=x`. JSON:
// {"ts","level", "module","msg", then each key of the tail as a string}. A line is one write(2),
// never longer than 2048 bytes, control bytes escaped. Writes never block: a full pipe loses the
// line and counts it. The keys of the tail stand in its format, each value runs to the next of
// them; a tail without any becomes the JSON key "detail".
// Thread safe. Packet code must not call this (tests/lint/symbols).
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

// An empty tail is a normal one.
#pragma GCC diagnostic ignored "-Wformat-zero-length"

enum log_level { LOG_LEVEL_ERR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

// Level, format and target of the whole process. Defaults: info, text, stderr.
void log_set_level(enum log_level level);
void log_set_json(bool json);
// Takes the descriptor for the rest of the process (it is set O_APPEND where it is a file).
void log_set_fd(int fd);
// "err" / "error", "warn" / "warning", "info", "debug". 0, or -EINVAL.
int log_level_parse(const char *text, enum log_level *ret_level);
bool log_enabled(enum log_level level);
// Lines lost because the target was full.
uint64_t log_lost(void);

// One line; use the macros below. tail may be "".
void log_write(enum log_level level, const char *module, const char *event, const char *tail, ...)
	PRINTF_FORMAT(4, 5);
// True at most once per interval_ns for the state *last (a call site's own static).
bool log_limit(_Atomic uint64_t *last, uint64_t interval_ns);

#define LOG_MODULE(name) static const char *const log_module UNUSED = name
#define LOG_AT(level, ...)                                         \
	do {                                                       \
		if (log_enabled(level))                            \
			log_write(level, log_module, __VA_ARGS__); \
	} while (0)
#define LOG_ERR(...) LOG_AT(LOG_LEVEL_ERR, __VA_ARGS__)
#define LOG_WARN(...) LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_INFO(...) LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_DEBUG(...) LOG_AT(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define LOG_LIMIT(level, ...)                            \
	do {                                             \
		static _Atomic uint64_t log_last;        \
		if (log_limit(&log_last, 1000000000ull)) \
			LOG_AT(level, __VA_ARGS__);      \
	} while (0)
#define LOG_ERR_LIMIT(...) LOG_LIMIT(LOG_LEVEL_ERR, __VA_ARGS__)
#define LOG_WARN_LIMIT(...) LOG_LIMIT(LOG_LEVEL_WARN, __VA_ARGS__)
