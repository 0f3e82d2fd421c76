// SPDX-License-Identifier: Apache-2.0
#include "harness/control_world.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fdio.h"
#include "core/counters.h"
#include "flow/flow.h"
#include "netlink/link.h"

#define TURNS_MAX 200
#define IN_MAX (8u << 20)

// A host has an address; without any the kernel knows no gateways.
static int raise_loopback(void)
{
	const struct link_change up = {.ifindex = 1, .up = 1, .noarp = -1};
	struct rtnl *rtnl = NULL;
	int r = rtnl_open(&rtnl, NULL);

	if (r == 0)
		r = link_set(rtnl, &up, NULL);
	rtnl_close(rtnl);
	return r;
}

static int fresh_namespaces(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
		return -errno;
	(void)mkdir("/run/netns", 0755);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/run/netns", "tmpfs", 0, NULL) < 0)
		return -errno;
	return raise_loopback();
}

static int make_folders(struct control_world *w, struct options *o)
{
	snprintf(w->dir, sizeof(w->dir), "/tmp/weft-control-XXXXXX");
	if (!mkdtemp(w->dir))
		return -errno;
	snprintf(o->run_dir, sizeof(o->run_dir), "%.60s/run", w->dir);
	snprintf(o->state_dir, sizeof(o->state_dir), "%.60s/state", w->dir);
	return mkdir(o->run_dir, 0700) < 0 || mkdir(o->state_dir, 0700) < 0 ? -errno : 0;
}

static int open_server(struct daemon *d, struct err *err)
{
	const struct server_conf conf = {
		.base = d->base,
		.path = d->socket_path,
		.uid = getuid(),
		.line = control_line,
		.closed = control_closed,
		.arg = d,
	};

	snprintf(d->socket_path, sizeof(d->socket_path), "%s/weftd.sock", d->options.run_dir);
	return server_open(&conf, &d->server, err);
}

int control_world_open(struct control_world *w, bool standalone)
{
	struct daemon *d = calloc(1, sizeof(*d));
	struct err err = ERR_INIT;
	int r = fresh_namespaces();

	w->d = d;
	if (r < 0 || !d)
		return r < 0 ? r : -ENOMEM;
	options_init(&d->options);
	d->options.workers = 1;
	d->options.rx = RX_MODE_MMSG;
	d->options.standalone = standalone;
	d->options.pod_cidrs.count = 1;
	(void)ipprefix_parse("10.244.1.0/24", &d->options.pod_cidrs.list[0]);
	d->locks[0] = d->locks[1] = -1;
	d->agent.event_age_s = -1;
	d->net.mtu = 1450;
	d->base = event_base_new();
	r = make_folders(w, &d->options);
	if (r == 0)
		r = counters_init(1);
	if (r == 0)
		r = flow_init(1);
	if (r == 0)
		r = daemon_open_net(d, &err);
	if (r == 0)
		r = daemon_open_state(d, &err);
	if (r == 0)
		r = open_server(d, &err);
	if (r < 0)
		fprintf(stderr, "control world: %s\n", err.text);
	return r;
}

static void remove_files(const struct control_world *w)
{
	static const char *const names[] = {"run/journal", "run/spool", "state/journal",
					    "run",         "state",     ""};
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->dir, names[i]);
		(void)remove(path);
	}
}

void control_world_close(struct control_world *w)
{
	if (!w->d)
		return;
	daemon_close(w->d);
	w->d = NULL;
	remove_files(w);
}

void control_world_run(struct control_world *w)
{
	for (int i = 0; i < TURNS_MAX; i++)
		(void)event_base_loop(w->d->base, EVLOOP_NONBLOCK);
}

int control_client_open(struct control_world *w, struct control_client *c)
{
	*c = (struct control_client){.world = w, .in = BUF_INIT(IN_MAX)};
	c->sock = fdio_connect_unix(w->d->socket_path, 1000);
	if (c->sock < 0)
		return c->sock;
	control_world_run(w);
	return fdio_set_nonblock(c->sock, true);
}

bool control_client_is_closed(struct control_client *c)
{
	char byte;
	ssize_t n = recv(c->sock, &byte, 1, MSG_PEEK);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

void control_client_close(struct control_client *c)
{
	if (c->sock >= 0)
		close(c->sock);
	c->sock = -1;
	control_world_run(c->world);
	buf_fini(&c->in);
}

void control_client_send(struct control_client *c, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = send(c->sock, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
		(void)event_base_loop(c->world->d->base, EVLOOP_NONBLOCK);
	}
	control_world_run(c->world);
}

const char *control_client_line(struct control_client *c)
{
	static char *line;
	char *end = c->in.data ? memchr(c->in.data, '\n', c->in.len) : NULL;

	while (!end && buf_read_some(&c->in, c->sock) > 0)
		end = memchr(c->in.data, '\n', c->in.len);
	if (!end)
		return NULL;
	free(line);
	line = strndup(c->in.data, (size_t)(end - c->in.data));
	buf_consume(&c->in, (size_t)(end - c->in.data) + 1);
	return line;
}

const char *control_client_call(struct control_client *c, const char *request)
{
	control_client_send(c, request, strlen(request));
	control_client_send(c, "\n", 1);
	return control_client_line(c);
}

void control_client_hello(struct control_client *c, const char *who)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"type\":\"hello\",\"min\":1,\"max\":1,\"who\":\"%s\"}",
		 who);
	(void)control_client_call(c, text);
}
