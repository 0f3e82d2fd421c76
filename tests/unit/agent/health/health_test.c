// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/source/files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "health/health.h"

static void test_address(void **state)
{
	static const struct {
		const char *text, *host; // host NULL: refused
		uint16_t port;
	} rows[] = {
		{"127.0.0.1:9641", "127.0.0.1", 9641},
		{"[::1]:65535", "::1", 65535},
		{"0.0.0.0:1", "0.0.0.0", 1},
		{"[::]:80", "::", 80},
		{"127.0.0.1", NULL, 0},
		{"127.0.0.1:", NULL, 0},
		{"127.0.0.1:0", NULL, 0},
		{"127.0.0.1:65536", NULL, 0},
		{"127.0.0.1:123456", NULL, 0},
		{"127.0.0.1:+80", NULL, 0},
		{"127.0.0.1:80x", NULL, 0},
		{":80", NULL, 0},
		{"::1:80", NULL, 0},
		{"[127.0.0.1]:80", NULL, 0},
		{"[]:80", NULL, 0},
		{"localhost:80", NULL, 0},
		{"", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char host[HEALTH_HOST_MAX] = "";
		uint16_t port = 0;
		int r = health_address_parse(rows[i].text, host, &port);

		if (r != (rows[i].host ? 0 : -EINVAL) || port != rows[i].port ||
		    strcmp(host, rows[i].host ? rows[i].host : ""))
			fail_msg("`%s`: %d %s %d", rows[i].text, r, host, port);
	}
}

struct world {
	struct event_base *base;
	struct health *health;
	char address[32];
	uint16_t port;
	bool is_ready;
	int fd;
	struct buf in;
};

static bool is_ready(void *arg)
{
	return ((struct world *)arg)->is_ready;
}

static void put_metrics(void *arg, void (*put)(void *to, const struct health_metric *m), void *to)
{
	const struct health_metric m = {"weft_test_total", "A test.", true, 3};

	(void)arg;
	put(to, &m);
}

// Listens on a port that the kernel just said is free; another one when it was taken meanwhile.
static void world_init(struct world *w)
{
	struct health_hooks hooks = {.is_ready = is_ready, .metrics = put_metrics, .arg = w};
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct err err = ERR_INIT;
	socklen_t len = sizeof(sin);

	*w = (struct world){.base = event_base_new(), .in = BUF_INIT(1 << 20)};
	for (int i = 0; i < 10 && !w->health; i++) {
		_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		sin.sin_port = 0;
		assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
		w->port = ntohs(sin.sin_port);
		snprintf(w->address, sizeof(w->address), "127.0.0.1:%u", w->port);
		cleanup_closep(&fd);
		fd = -1;
		(void)health_new(w->base, w->address, &hooks, &w->health, &err);
	}
	assert_non_null(w->health);
}

static void world_fini(struct world *w)
{
	health_free(w->health);
	buf_fini(&w->in);
	event_base_free(w->base);
}

static bool has_answer(void *arg)
{
	struct world *w = arg;
	ssize_t n = buf_read_some(&w->in, w->fd);

	return n == 0 || (n < 0 && n != -EAGAIN);
}

// The whole answer to a request.
static const char *ask(struct world *w, const char *request)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
				  .sin_port = htons(w->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	buf_consume(&w->in, w->in.len);
	w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(w->fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(fcntl(w->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(send(w->fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	loop_until(w->base, has_answer, w);
	close(w->fd);
	return w->in.data ? w->in.data : "";
}

#define END " HTTP/1.0\r\n\r\n"

static void test_pages(void **state)
{
	_cleanup_(world_fini) struct world w;

	(void)state;
	world_init(&w);
	assert_non_null(strstr(ask(&w, "GET /healthz" END), " 200 "));
	assert_non_null(strstr(ask(&w, "GET /readyz" END), " 503 "));
	w.is_ready = true;
	assert_non_null(strstr(ask(&w, "GET /readyz" END), " 200 "));
	assert_non_null(strstr(ask(&w, "GET /metrics" END),
			       "# HELP weft_test_total A test.\n# TYPE weft_test_total counter\n"
			       "weft_test_total 3\n"));
	assert_non_null(strstr(ask(&w, "GET /" END), " 404 "));
	assert_null(strstr(ask(&w, "POST /metrics HTTP/1.0\r\nContent-Length: 0\r\n\r\n"),
			   "weft_test_total"));
}

static void test_hostile(void **state)
{
	_cleanup_(world_fini) struct world w;
	_free_ char *text = calloc(1, 65536);

	(void)state;
	world_init(&w);
	memset(text, 'x', 65535);
	memcpy(text, "GET /healthz HTTP/1.0\r\nA: ", 26);
	memcpy(text + 65535 - 4, "\r\n\r\n", 4);
	assert_null(strstr(ask(&w, text), " 200 "));
	ask(&w, "\r\n\r\n\r\n");
	ask(&w, "nonsense\r\n\r\n");
	assert_non_null(strstr(ask(&w, "GET /healthz" END), " 200 "));
}

static void test_taken(void **state)
{
	_cleanup_(world_fini) struct world w;
	struct health_hooks hooks = {.is_ready = is_ready, .metrics = put_metrics};
	struct health *second = NULL;
	struct err err = ERR_INIT;

	(void)state;
	world_init(&w);
	assert_int_equal(health_new(w.base, w.address, &hooks, &second, &err), -EADDRINUSE);
	assert_non_null(strstr(err.text, w.address));
	assert_int_equal(health_new(w.base, "nowhere", &hooks, &second, &err), -EINVAL);
	health_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
