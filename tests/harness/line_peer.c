// SPDX-License-Identifier: Apache-2.0
#include "harness/line_peer.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/line.h"
#include "base/clock.h"
#include "base/fdio.h"

#define SEND_MS 5000

struct line_peer {
	const struct line_answer *answers;
	size_t count;
	char dir[32], path[64];
	int listener, stop[2]; // closing stop[1] ends the thread
	pthread_t thread;
};

// False: the stop pipe was closed.
static bool wait_for(const struct line_peer *p, int fd)
{
	struct pollfd fds[] = {{fd, POLLIN, 0}, {p->stop[0], POLLIN, 0}};

	while (poll(fds, 2, -1) < 0)
		;
	return fds[1].revents == 0;
}

static const struct line_answer *find_answer(const struct line_peer *p, const char *request)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->answers[i].request && strstr(request, p->answers[i].request))
			return &p->answers[i];
	return NULL;
}

// False: end the connection.
static bool answer(const struct line_peer *p, int sock, const char *request)
{
	const struct line_answer *a = find_answer(p, request);

	for (size_t i = 0; a && i < LINE_PEER_LINES && a->lines[i]; i++)
		if (line_send(sock, a->lines[i], strlen(a->lines[i]), -1,
			      clock_deadline_ns(SEND_MS)) < 0)
			return false;
	return a && !a->hang_up;
}

static void serve(const struct line_peer *p, int sock)
{
	struct line_reader in;
	const char *line;
	bool more = true;
	size_t len;

	line_reader_init(&in);
	while (more && wait_for(p, sock) && line_reader_fill(&in, sock) > 0)
		while (more && (line = line_reader_next(&in, &len)))
			more = answer(p, sock, line);
	line_reader_fini(&in);
}

static void *run(void *arg)
{
	struct line_peer *p = arg;

	while (wait_for(p, p->listener)) {
		int sock = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);

		if (sock < 0)
			continue;
		serve(p, sock);
		close(sock);
	}
	return NULL;
}

struct line_peer *line_peer_start(const struct line_answer *answers, size_t count)
{
	struct line_peer *p = calloc(1, sizeof(*p));
	int r;

	assert(p);
	p->answers = answers;
	p->count = count;
	snprintf(p->dir, sizeof(p->dir), "/tmp/line-peer-XXXXXX");
	r = mkdtemp(p->dir) ? 0 : -1;
	assert(r == 0);
	snprintf(p->path, sizeof(p->path), "%s/weftd.sock", p->dir);
	p->listener = fdio_listen_unix(p->path, 8);
	assert(p->listener >= 0);
	r = pipe(p->stop);
	assert(r == 0);
	r = pthread_create(&p->thread, NULL, run, p);
	assert(r == 0);
	return p;
}

const char *line_peer_dir(const struct line_peer *p)
{
	return p->dir;
}

void line_peer_stop(struct line_peer *p)
{
	close(p->stop[1]);
	pthread_join(p->thread, NULL);
	close(p->stop[0]);
	close(p->listener);
	unlink(p->path);
	rmdir(p->dir);
	free(p);
}
