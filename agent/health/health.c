// SPDX-License-Identifier: Apache-2.0
#include "health/health.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/ipaddr.h"

#define REQUEST_MAX 8192 // bytes of headers
#define TIMEOUT_S 10

struct health {
	struct evhttp *http;
	struct health_hooks hooks;
};

int health_address_parse(const char *text, char ret_host[HEALTH_HOST_MAX], uint16_t *ret_port)
{
	const char *colon = strrchr(text, ':'), *start = text;
	char host[HEALTH_HOST_MAX];
	struct ipaddr addr;
	size_t len;
	long port;

	if (!colon || colon == text || colon[strspn(colon + 1, "0123456789") + 1] ||
	    strlen(colon) > strlen(":65535"))
		return -EINVAL;
	len = (size_t)(colon - text);
	if (text[0] == '[' && colon[-1] == ']') {
		start++;
		len -= 2;
	}
	port = strtol(colon + 1, NULL, 10);
	if (port < 1 || port > UINT16_MAX || len >= sizeof(host))
		return -EINVAL;
	memcpy(host, start, len);
	host[len] = '\0';
	if (ipaddr_parse(host, &addr) < 0 || ipaddr_is_v4(&addr) != (start == text))
		return -EINVAL;
	memcpy(ret_host, host, len + 1);
	*ret_port = (uint16_t)port;
	return 0;
}

static void answer(struct evhttp_request *req, int status, const char *reason, const char *body)
{
	struct evbuffer *out = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "text/plain; charset=utf-8");
	if (out)
		evbuffer_add_printf(out, "%s", body);
	evhttp_send_reply(req, status, reason, out);
	if (out)
		evbuffer_free(out);
}

static void on_healthz(struct evhttp_request *req, void *arg UNUSED)
{
	answer(req, HTTP_OK, "OK", "ok\n");
}

static void on_readyz(struct evhttp_request *req, void *arg)
{
	struct health *h = arg;

	if (h->hooks.is_ready(h->hooks.arg))
		answer(req, HTTP_OK, "OK", "ok\n");
	else
		answer(req, HTTP_SERVUNAVAIL, "Not Ready", "not ready\n");
}

static void put_metric(void *to, const struct health_metric *m)
{
	evbuffer_add_printf(to, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", m->name, m->help, m->name,
			    m->is_counter ? "counter" : "gauge", m->name, m->value);
}

static void on_metrics(struct evhttp_request *req, void *arg)
{
	struct evbuffer *out = evbuffer_new();
	struct health *h = arg;

	if (!out) {
		evhttp_send_error(req, HTTP_INTERNAL, NULL);
		return;
	}
	h->hooks.metrics(h->hooks.arg, put_metric, out);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "text/plain; version=0.0.4; charset=utf-8");
	evhttp_send_reply(req, HTTP_OK, "OK", out);
	evbuffer_free(out);
}

static int serve(struct health *h)
{
	evhttp_set_allowed_methods(h->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	evhttp_set_max_headers_size(h->http, REQUEST_MAX);
	evhttp_set_max_body_size(h->http, REQUEST_MAX);
	evhttp_set_timeout(h->http, TIMEOUT_S);
	if (evhttp_set_cb(h->http, "/healthz", on_healthz, h) < 0 ||
	    evhttp_set_cb(h->http, "/readyz", on_readyz, h) < 0 ||
	    evhttp_set_cb(h->http, "/metrics", on_metrics, h) < 0)
		return -ENOMEM;
	return 0;
}

int health_new(struct event_base *base, const char *address, const struct health_hooks *hooks,
	       struct health **ret_health, struct err *err)
{
	char host[HEALTH_HOST_MAX];
	struct health *h;
	uint16_t port;

	if (health_address_parse(address, host, &port) < 0)
		return err_set(err, 0, "`%s` is no ADDR:PORT", address);
	h = calloc(1, sizeof(*h));
	if (!h)
		return err_set(err, ENOMEM, "serve `%s`", address);
	h->hooks = *hooks;
	h->http = evhttp_new(base);
	if (!h->http || serve(h) < 0) {
		health_free(h);
		return err_set(err, ENOMEM, "serve `%s`", address);
	}
	errno = 0;
	if (evhttp_bind_socket(h->http, host, port) < 0) {
		health_free(h);
		return err_set(err, errno ? errno : EADDRINUSE, "listen on `%s`", address);
	}
	*ret_health = h;
	return 0;
}

void health_free(struct health *h)
{
	if (!h)
		return;
	if (h->http)
		evhttp_free(h->http);
	free(h);
}
