// SPDX-License-Identifier: Apache-2.0
// Files by printf, and the event loop until something is true, for tests of the watched folder.
#pragma once

#include "harness/cm.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"

#define FILES_DEADLINE_MS 10000

static UNUSED void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		fail_msg("open %s", path);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static UNUSED void make_dir(const char *path)
{
	if (mkdir(path, 0755) < 0)
		fail_msg("mkdir %s", path);
}

// Writes beside and moves over, as careful writers do.
static UNUSED void file_replace(const char *path, const char *text)
{
	char temp[256];

	snprintf(temp, sizeof(temp), "%s.new~", path);
	file_write(temp, text);
	assert_int_equal(rename(temp, path), 0);
}

// Runs the loop until check(arg) is true; fails the test after FILES_DEADLINE_MS.
static UNUSED void loop_until(struct event_base *base, bool (*check)(void *arg), void *arg)
{
	uint64_t deadline = clock_deadline_ns(FILES_DEADLINE_MS);
	struct timeval step = {.tv_usec = 20000};

	while (!check(arg)) {
		if (clock_left_ms(deadline) <= 0)
			fail_msg("nothing happened in %d ms", FILES_DEADLINE_MS);
		event_base_loopexit(base, &step);
		event_base_dispatch(base);
	}
}

static UNUSED bool loop_never(void *arg)
{
	return clock_left_ms(*(uint64_t *)arg) <= 0;
}

// Runs the loop for some time, to see that something does not happen.
static UNUSED void loop_for(struct event_base *base, unsigned ms)
{
	uint64_t end = clock_deadline_ns(ms);

	loop_until(base, loop_never, &end);
}
