// SPDX-License-Identifier: Apache-2.0
#include "uninstall.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/client.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "netlink/link.h"
#include "netlink/netns.h"
#include "uninstall_files.h"

#define ASK_MS 1000
#define NETNS_DIR "/run/netns"
#define LINKS_MAX 4096 // weftd's own bound of interface indexes
#define ALIAS "weft:"  // head of the alias of every link that weftd or the CNI binary makes

struct job {
	const struct uninstall_conf *conf;
	uninstall_fn *fn;
	void *arg;
	struct link_info host; // ifindex 0: there is none
};

static void tell(const struct job *j, bool left, const char *fmt, ...) PRINTF_FORMAT(3, 4);

static void tell(const struct job *j, bool left, const char *fmt, ...)
{
	char text[PATH_MAX + 128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	j->fn(text, left, j->arg);
}

// A daemon that answers is told by its socket, one that hangs by its lock.
static int check_stopped(const struct uninstall_conf *conf, struct err *err)
{
	_cleanup_(client_closep) struct client *c = NULL;
	struct err why = ERR_INIT;
	int r = client_open(conf->run_dir, "weftctl", clock_deadline_ns(ASK_MS), &c, &why);

	if (r == -ECONNREFUSED) {
		r = uninstall_check_lock(conf->run_dir, err);
		return r < 0 ? r : uninstall_check_lock(conf->state_dir, err);
	}
	err_set(err, 0, "weftd still runs with `%s`; stop it first", conf->run_dir);
	return -EBUSY;
}

static bool is_ours(const struct link_info *l)
{
	return strncmp(l->alias, ALIAS, strlen(ALIAS)) == 0;
}

static bool is_peer_of(const struct link_info *a, const struct link_info *b)
{
	return strcmp(a->kind, "veth") == 0 && strcmp(b->kind, "veth") == 0 &&
	       a->peer_ifindex == b->ifindex && b->peer_ifindex == a->ifindex;
}

struct found {
	const struct job *job;
	uint32_t ours[LINKS_MAX];
	size_t count;
	bool has_host_peer;
	char foreign[LINK_NAME_MAX]; // "" = none
};

// Devices that the kernel itself puts into each namespace (lo, sit0, ...) have no peer and no
// alias.
static int sort_link(const struct link_info *l, void *arg)
{
	struct found *f = arg;

	if (is_peer_of(l, &f->job->host))
		f->has_host_peer = true;
	else if (is_ours(l) && f->count < LINKS_MAX)
		f->ours[f->count++] = l->ifindex;
	else if (l->kind[0] && strcmp(l->kind, "veth") == 0)
		snprintf(f->foreign, sizeof(f->foreign), "%s", l->name);
	return 0;
}

static int remove_host_if(const struct job *j, bool is_paired, struct err *err)
{
	_cleanup_(rtnl_closep) struct rtnl *rtnl = NULL;
	int r;

	if (!j->host.ifindex)
		return 0;
	if (!is_paired && !is_ours(&j->host)) {
		tell(j, true, "interface %s is not weft's", j->host.name);
		return 0;
	}
	r = rtnl_open(&rtnl, err);
	if (r == 0)
		r = link_del(rtnl, j->host.ifindex, err);
	if (r < 0)
		return err_wrap(err, r, "interface %s", j->host.name);
	tell(j, false, "interface %s", j->host.name);
	return 0;
}

static int remove_links(const struct job *j, struct rtnl *rtnl, const struct found *f,
			struct err *err)
{
	for (size_t i = 0; i < f->count; i++) {
		int r = link_del(rtnl, f->ours[i], err);

		if (r < 0)
			return r;
	}
	if (f->count)
		tell(j, false, "host ends of pods: %zu", f->count);
	return 0;
}

// Lists the private namespace and deletes the host ends in it; their peers in the pods go with
// them. NETNS_NOT_FOUND where there is no such namespace.
static int empty_netns(const struct job *j, struct found *f, struct err *err)
{
	_cleanup_(rtnl_closep) struct rtnl *rtnl = NULL;
	struct err why = ERR_INIT;
	_close_ int fd = -1;
	char path[PATH_MAX];
	int outcome = 0, r;

	snprintf(path, sizeof(path), NETNS_DIR "/%s", j->conf->netns);
	fd = netns_open(path, &outcome, &why);
	if (fd < 0 && outcome == NETNS_NOT_FOUND)
		return NETNS_NOT_FOUND;
	if (fd < 0) {
		*err = why;
		return fd;
	}
	r = rtnl_open_in(fd, &rtnl, err);
	if (r == 0)
		r = link_foreach(rtnl, sort_link, f, err);
	return r < 0 ? r : remove_links(j, rtnl, f, err);
}

static int remove_netns(const struct job *j, const struct found *f, struct err *err)
{
	int r;

	if (f->foreign[0]) {
		tell(j, true, "namespace %s: interface %s in it is not weft's", j->conf->netns,
		     f->foreign);
		return 0;
	}
	r = netns_remove(j->conf->netns, err);
	if (r == 0)
		tell(j, false, "namespace %s", j->conf->netns);
	return r;
}

static int remove_links_and_netns(const struct job *j, struct err *err)
{
	_free_ struct found *f = calloc(1, sizeof(*f));
	int found, r;

	if (!f)
		return err_set(err, ENOMEM, "list interfaces");
	f->job = j;
	found = empty_netns(j, f, err);
	if (found < 0)
		return err_wrap(err, found, "namespace %s", j->conf->netns);
	r = remove_host_if(j, f->has_host_peer, err);
	if (r < 0 || found == NETNS_NOT_FOUND)
		return r;
	return remove_netns(j, f, err);
}

static int find_host_if(struct job *j, struct err *err)
{
	_cleanup_(rtnl_closep) struct rtnl *rtnl = NULL;
	int r = rtnl_open(&rtnl, err);

	if (r == 0)
		r = link_get_by_name(rtnl, j->conf->host_if, &j->host, err);
	if (r == LINK_NOT_FOUND)
		j->host.ifindex = 0;
	return r < 0 ? r : 0;
}

static void tell_file(const char *path, bool left, void *arg)
{
	tell(arg, left, "%s", path);
}

int uninstall_run(const struct uninstall_conf *conf, uninstall_fn *fn, void *arg, struct err *err)
{
	struct job j = {.conf = conf, .fn = fn, .arg = arg};
	int r = check_stopped(conf, err);

	if (r == 0)
		r = find_host_if(&j, err);
	if (r == 0)
		r = remove_links_and_netns(&j, err);
	if (r == 0)
		r = uninstall_files(conf->run_dir, conf->state_dir, tell_file, &j, err);
	return r;
}
