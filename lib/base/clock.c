// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define BOOT_ID_LEN 36

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	// Neither clock can fail with a valid pointer.
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

const char *clock_format(uint64_t wall_ns, char *out, size_t size)
{
	time_t s = (time_t)(wall_ns / NS_PER_SEC);
	unsigned ms = (unsigned)(wall_ns % NS_PER_SEC / NS_PER_MS);
	char date[32];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, size, "%s.%03uZ", date, ms);
	return out;
}

uint64_t clock_deadline_ns(uint64_t timeout_ms)
{
	uint64_t now = clock_now_ns();

	if (timeout_ms > (UINT64_MAX - now) / NS_PER_MS)
		return UINT64_MAX;
	return now + timeout_ms * NS_PER_MS;
}

int clock_left_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();

	if (deadline_ns <= now)
		return 0;
	// Rounded up, so that a wait does not end just before the deadline and spin.
	uint64_t ms = (deadline_ns - now - 1) / NS_PER_MS + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

int clock_boot_id(char out[37])
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(256);
	int r = buf_read_file(&b, "/proc/sys/kernel/random/boot_id");

	if (r < 0)
		return r;
	if (b.len < BOOT_ID_LEN || strspn(b.data, "0123456789abcdef-") != BOOT_ID_LEN)
		return -EBADMSG;
	memcpy(out, b.data, BOOT_ID_LEN);
	out[BOOT_ID_LEN] = '\0';
	return 0;
}
