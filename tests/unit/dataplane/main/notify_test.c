// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "main/notify.h"

// name: with '@' first for the abstract name space. Sends and returns what arrived.
static const char *round_trip(const char *name)
{
	static char got[64];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ssize_t n;

	memcpy(at.sun_path, name, strlen(name));
	if (name[0] == '@')
		at.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	notify_state("READY=1");
	n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
	close(fd);
	got[n > 0 ? n : 0] = '\0';
	return got;
}

static void test_sends(void **state)
{
	char path[64], abstract[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/weft-notify-%d", getpid());
	snprintf(abstract, sizeof(abstract), "@weft-notify-%d", getpid());
	assert_string_equal(round_trip(path), "READY=1");
	unlink(path);
	assert_string_equal(round_trip(abstract), "READY=1");
}

static void test_without_listener(void **state)
{
	char longer[300];

	(void)state;
	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longer, 1);
	notify_state("READY=1");
	setenv("NOTIFY_SOCKET", "relative", 1);
	notify_state("READY=1");
	setenv("NOTIFY_SOCKET", "", 1);
	notify_state("READY=1");
	setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	notify_state("READY=1");
	unsetenv("NOTIFY_SOCKET");
	notify_state("READY=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sends),
		cmocka_unit_test(test_without_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
