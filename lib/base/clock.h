// SPDX-License-Identifier: Apache-2.0
// Time. All timers use the monotonic clock; wall time is for text only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NS_PER_SEC 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

// CLOCK_MONOTONIC in ns; never goes back.
uint64_t clock_now_ns(void);
// Wall time in ns since 1970 (CLOCK_REALTIME).
uint64_t clock_wall_ns(void);
// "2026-01-02T03:04:05.678Z" of wall_ns; size >= 25. Returns out.
const char *clock_format(uint64_t wall_ns, char *out, size_t size);
// A deadline timeout_ms from now, and what is left of it in ms (0 = passed), for poll(2).
uint64_t clock_deadline_ns(uint64_t timeout_ms);
int clock_left_ms(uint64_t deadline_ns);
// The kernel's boot id (/proc/sys/kernel/random/boot_id), 36 characters and NUL. 0 or -errno.
int clock_boot_id(char out[37]);
