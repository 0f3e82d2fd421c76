// SPDX-License-Identifier: Apache-2.0
// Round-trip times of one small message at a time, over TCP or UDP.
//
//	pingpong server tcp|udp ADDR PORT                 echoes until its parent ends it
//	pingpong client tcp|udp ADDR PORT SECONDS SIZE    prints {"count", "p50_us", "p90_us",
//"p99_us", "lost"}
//
// The server prints "ready" when it listens. A UDP message without an answer within 0.2 s is lost.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ipaddr.h"

#define SIZE_MAX_BYTES 1400
#define SAMPLES_MAX 2000000
#define LOST_MS 200

struct endpoint {
	struct sockaddr_storage addr;
	socklen_t addr_len;
	bool tcp;
};

static bool parse_endpoint(const char *proto, const char *addr, const char *port,
			   struct endpoint *e)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&e->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&e->addr;
	unsigned long number = strtoul(port, NULL, 10);

	e->tcp = strcmp(proto, "tcp") == 0;
	if (number < 1 || number > 65535 || (!e->tcp && strcmp(proto, "udp") != 0))
		return false;
	if (inet_pton(AF_INET, addr, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)number);
		e->addr_len = sizeof(*v4);
		return true;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)number);
	e->addr_len = sizeof(*v6);
	return inet_pton(AF_INET6, addr, &v6->sin6_addr) == 1;
}

static int open_socket(const struct endpoint *e)
{
	int fd = socket(e->addr.ss_family, (e->tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0)
		perror("SO_REUSEADDR");
	if (fd >= 0 && e->tcp && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		perror("TCP_NODELAY");
	return fd;
}

static int echo_udp(int fd)
{
	char data[SIZE_MAX_BYTES];
	struct sockaddr_storage from;

	for (;;) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &len);

		if (n >= 0)
			n = sendto(fd, data, (size_t)n, 0, (struct sockaddr *)&from, len);
		if (n < 0 && errno != EINTR && errno != ECONNREFUSED)
			return -1;
	}
}

static void echo_connection(int fd)
{
	char data[SIZE_MAX_BYTES];
	ssize_t n;

	while ((n = read(fd, data, sizeof(data))) > 0)
		if (write(fd, data, (size_t)n) != n)
			return;
}

static int echo_tcp(int listener)
{
	int one = 1;

	for (;;) {
		_close_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
			return -1;
		echo_connection(fd);
	}
}

static int serve(const struct endpoint *e)
{
	_close_ int fd = open_socket(e);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&e->addr, e->addr_len) < 0 ||
	    (e->tcp && listen(fd, 4) < 0))
		return -1;
	puts("ready");
	fflush(stdout);
	return e->tcp ? echo_tcp(fd) : echo_udp(fd);
}

// 1: answered, 0: lost, -1: failed.
static int one_round(int fd, char *data, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t got = 0;

	if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		return -1;
	while (got < size) {
		ssize_t n;

		if (poll(&p, 1, LOST_MS) == 0)
			return 0;
		n = recv(fd, data + got, size - got, 0);
		if (n <= 0)
			return -1;
		got += (size_t)n;
	}
	return 1;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double percentile_us(const uint32_t *ns, size_t count, unsigned percent)
{
	return count ? ns[(count - 1) * percent / 100] / 1000.0 : 0;
}

static int measure(const struct endpoint *e, unsigned seconds, size_t size)
{
	_close_ int fd = open_socket(e);
	_free_ uint32_t *ns = calloc(SAMPLES_MAX, sizeof(*ns));
	char data[SIZE_MAX_BYTES] = {0};
	size_t count = 0, lost = 0;
	uint64_t end, start;

	if (fd < 0 || !ns || connect(fd, (const struct sockaddr *)&e->addr, e->addr_len) < 0)
		return -1;
	end = clock_deadline_ns(seconds * 1000);
	while (count < SAMPLES_MAX && (start = clock_now_ns()) < end) {
		int r = one_round(fd, data, size);

		if (r < 0)
			return -1;
		if (r == 0)
			lost++;
		else
			ns[count++] = (uint32_t)(clock_now_ns() - start);
	}
	qsort(ns, count, sizeof(*ns), compare);
	printf("{\"count\": %zu, \"p50_us\": %.2f, \"p90_us\": %.2f, \"p99_us\": %.2f, "
	       "\"lost\": %zu}\n",
	       count, percentile_us(ns, count, 50), percentile_us(ns, count, 90),
	       percentile_us(ns, count, 99), lost);
	return 0;
}

int main(int argc, char **argv)
{
	struct endpoint e = {0};
	unsigned long seconds = argc == 7 ? strtoul(argv[5], NULL, 10) : 0;
	unsigned long size = argc == 7 ? strtoul(argv[6], NULL, 10) : 0;
	int r = 0;

	if ((argc != 5 && argc != 7) || !parse_endpoint(argv[2], argv[3], argv[4], &e) ||
	    (argc == 7 && (seconds < 1 || seconds > 60 || size < 1 || size > SIZE_MAX_BYTES))) {
		fprintf(stderr, "usage: pingpong server|client tcp|udp ADDR PORT [SECONDS SIZE]\n");
		return 2;
	}
	r = argc == 5 ? serve(&e) : measure(&e, (unsigned)seconds, size);
	if (r < 0)
		perror("pingpong");
	return r < 0;
}
