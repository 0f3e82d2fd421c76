// SPDX-License-Identifier: Apache-2.0
#include "harness/attach_world.h"

#include "harness/cm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "features/attach/ipam.h"
#include "netlink/link.h"

struct attach_world attach_world;

// ---- links ----

int __wrap_link_get_by_name(struct rtnl *rtnl, const char *name, struct link_info *ret,
			    struct err *err);
int __wrap_link_get_by_index(struct rtnl *rtnl, uint32_t ifindex, struct link_info *ret,
			     struct err *err);
int __wrap_link_foreach(struct rtnl *rtnl, int (*fn)(const struct link_info *info, void *arg),
			void *arg, struct err *err);
int __wrap_link_del(struct rtnl *rtnl, uint32_t ifindex, struct err *err);
int __wrap_link_set(struct rtnl *rtnl, const struct link_change *c, struct err *err);
uint64_t __wrap_clock_now_ns(void);

uint64_t __wrap_clock_now_ns(void)
{
	return attach_world.now_ns;
}

static int link_error(struct err *err)
{
	if (attach_world.link_errors == 0)
		return 0;
	attach_world.link_errors--;
	return err_set(err, EIO, "link");
}

static int find(const char *name, uint32_t ifindex)
{
	for (unsigned i = 0; i < attach_world.link_count; i++) {
		const struct link_info *l = &attach_world.links[i];

		if (name ? strcmp(l->name, name) == 0 : l->ifindex == ifindex)
			return (int)i;
	}
	return -1;
}

static int get(const char *name, uint32_t ifindex, struct link_info *ret, struct err *err)
{
	int r = link_error(err), i = find(name, ifindex);

	if (r < 0)
		return r;
	if (i < 0)
		return LINK_NOT_FOUND;
	*ret = attach_world.links[i];
	return 0;
}

int __wrap_link_get_by_name(struct rtnl *rtnl, const char *name, struct link_info *ret,
			    struct err *err)
{
	(void)rtnl;
	return get(name, 0, ret, err);
}

int __wrap_link_get_by_index(struct rtnl *rtnl, uint32_t ifindex, struct link_info *ret,
			     struct err *err)
{
	(void)rtnl;
	return get(NULL, ifindex, ret, err);
}

int __wrap_link_foreach(struct rtnl *rtnl, int (*fn)(const struct link_info *info, void *arg),
			void *arg, struct err *err)
{
	int r = link_error(err);

	(void)rtnl;
	for (unsigned i = 0; i < attach_world.link_count && r == 0; i++)
		r = fn(&attach_world.links[i], arg);
	return r;
}

static void remove_at(int i)
{
	attach_world.links[i] = attach_world.links[--attach_world.link_count];
}

int __wrap_link_del(struct rtnl *rtnl, uint32_t ifindex, struct err *err)
{
	int r = link_error(err), i = find(NULL, ifindex);

	(void)rtnl;
	if (r < 0)
		return r;
	if (i < 0)
		return LINK_NOT_FOUND;
	remove_at(i);
	return 0;
}

int __wrap_link_set(struct rtnl *rtnl, const struct link_change *c, struct err *err)
{
	int r = link_error(err), i = find(NULL, c->ifindex);

	(void)rtnl;
	if (r < 0)
		return r;
	if (i < 0)
		return LINK_NOT_FOUND;
	if (c->alias)
		snprintf(attach_world.links[i].alias, LINK_ALIAS_MAX, "%s", c->alias);
	return 0;
}

void attach_world_add_link(uint32_t ifindex, const char *name, const char *alias)
{
	struct link_info *l = &attach_world.links[attach_world.link_count++];

	assert_true(attach_world.link_count <= ATTACH_WORLD_LINKS);
	*l = (struct link_info){.ifindex = ifindex, .kind = "veth"};
	snprintf(l->name, sizeof(l->name), "%s", name);
	snprintf(l->alias, sizeof(l->alias), "%s", alias ? alias : "");
}

bool attach_world_has_link(const char *name)
{
	return find(name, 0) >= 0;
}

void attach_world_del_link(const char *name)
{
	int i = find(name, 0);

	assert_true(i >= 0);
	remove_at(i);
}

// ---- what attach needs of others ----

static int op_open(void *arg, struct port *port, const char *cookie, struct err *err)
{
	(void)arg;
	(void)cookie;
	if (attach_world.open_error) {
		int r = err_set(err, attach_world.open_error, "open port");

		attach_world.open_error = 0;
		return r;
	}
	assert_int_equal(port_publish(port), 0);
	attach_world.opened++;
	return 0;
}

static void op_close(void *arg, uint16_t id)
{
	(void)arg;
	free(port_unpublish(id));
	attach_world.closed++;
}

static bool op_id_is_free(void *arg, uint16_t id)
{
	(void)arg;
	return id != attach_world.busy_id && !port_get(id);
}

static int op_mac(void *arg, uint16_t id, const struct macaddr *mac, struct err *err)
{
	(void)arg;
	(void)err;
	port_get(id)->mac = *mac;
	return 0;
}

static void op_commit(void *arg)
{
	(void)arg;
	attach_world.commits++;
}

static bool op_known(void *arg, const char *ns, const char *name)
{
	(void)arg;
	assert_true(ns[0] && name[0]);
	return attach_world.pods_known;
}

static void op_changed(void *arg, enum attach_event event, const struct attachment *at)
{
	unsigned *const counts[] = {&attach_world.added, &attach_world.changed,
				    &attach_world.removed};

	(void)arg;
	assert_non_null(at->container_id);
	(*counts[event])++;
}

static const struct attach_ops ops = {
	.port_open = op_open,
	.port_close = op_close,
	.id_is_free = op_id_is_free,
	.port_mac = op_mac,
	.commit = op_commit,
	.pod_is_known = op_known,
	.changed = op_changed,
};

// ---- life ----

void attach_world_init(void)
{
	struct attach_world *w = &attach_world;

	*w = (struct attach_world){.dir = "/tmp/weft-attach-XXXXXX", .now_ns = NS_PER_SEC};
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->state, sizeof(w->state), "%.60s/state", w->dir);
	snprintf(w->run, sizeof(w->run), "%.60s/run", w->dir);
	assert_int_equal(mkdir(w->state, 0700) | mkdir(w->run, 0700), 0);
	w->conf = (struct attach_conf){
		.state_dir = w->state,
		.run_dir = w->run,
		.rtnl = (struct rtnl *)w, // never looked into
		.netns_fd = -1,
		.standalone = true,
		.mtu = 1450,
		.gateway_mac = {{0x02, 0x77, 0x65, 0x66, 0x74, 0x01}},
		.ops = &ops,
	};
}

void attach_world_open(const char *ranges)
{
	struct ipprefix list[IPAM_RANGES_MAX];
	char copy[256], *save = NULL;
	struct err err = ERR_INIT;
	size_t n = 0;

	if (attach_open(&attach_world.conf, &attach_world.a, &err) < 0 ||
	    attach_restore(attach_world.a, &err) < 0)
		fail_msg("open: %s", err.text);
	snprintf(copy, sizeof(copy), "%s", ranges);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
		assert_int_equal(ipprefix_parse(p, &list[n++]), 0);
	if (n > 0)
		assert_int_equal(attach_set_ranges(attach_world.a, list, n, NULL), 0);
}

void attach_world_crash(void)
{
	for (uint16_t id = 1; id < PORT_MAX; id++)
		free(port_unpublish(id));
	attach_close(attach_world.a);
	attach_world.a = NULL;
}

void attach_world_fini(void)
{
	static const char *const names[] = {
		"state/journal", "state/journal.bad", "run/journal", "state", "run", "."};
	char path[128];

	attach_world_crash();
	for (size_t i = 0; i + 1 < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", attach_world.dir, names[i]);
		(void)remove(path);
	}
	assert_int_equal(rmdir(attach_world.dir), 0);
}

struct attach_key attach_world_key(const char *id)
{
	return (struct attach_key){.network = "weft", .container_id = id, .ifname = "eth0"};
}

struct attach_request attach_world_request(const char *id)
{
	return (struct attach_request){.key = attach_world_key(id),
				       .netns = "/run/netns/x",
				       .pod_namespace = "",
				       .pod_name = "",
				       .pod_uid = "",
				       .owner = 1};
}

const struct attachment *attach_world_reserve(const char *id, struct err *ret_err)
{
	struct attach_request rq = attach_world_request(id);
	const struct attachment *at = NULL;

	return attach_reserve(attach_world.a, &rq, &at, ret_err) < 0 ? NULL : at;
}

static void done(const struct attachment *at, const struct err *err, void *arg)
{
	assert_ptr_equal(arg, &attach_world);
	assert_true((at != NULL) == (err == NULL));
	attach_world.done_calls++;
	attach_world.done_code = err ? err->code : 0;
}

int attach_world_activate(const char *id, uint32_t wait_ms, struct err *err)
{
	const struct attach_activation act = {.key = attach_world_key(id),
					      .owner = 1,
					      .wait_ms = wait_ms,
					      .done = done,
					      .done_arg = &attach_world};
	const struct attachment *at;

	return attach_activate(attach_world.a, &act, &at, err);
}

const struct attachment *attach_world_add(const char *id)
{
	struct err err = ERR_INIT;
	const struct attachment *at = attach_world_reserve(id, &err);

	if (!at)
		fail_msg("reserve %s: %s", id, err.text);
	attach_world_add_link(at->ifindex, at->host_name, NULL);
	if (attach_world_activate(id, 0, &err) != 0)
		fail_msg("activate %s: %s", id, err.text);
	return at;
}

const char *attach_world_ip(const struct attachment *at)
{
	static char text[IPADDR_TEXT_MAX];

	return at->addr_count ? ipaddr_format(&at->addrs[0], text) : "";
}
