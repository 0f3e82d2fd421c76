// SPDX-License-Identifier: Apache-2.0
#include "features/attach/attach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"

#define KEY_MAX 3200 // three strings of at most 1024 bytes
#define RETRY_NS (10 * NS_PER_SEC)

LOG_MODULE("attach");

static const char *const state_names[] = {
	[ATTACH_RESERVED] = "reserved",
	[ATTACH_WAITING] = "waiting",
	[ATTACH_ACTIVE] = "active",
	[ATTACH_GONE] = "gone",
};

const char *attach_state_name(enum attach_state state)
{
	return state_names[state];
}

// Line ends cannot stand in the parts: the socket refuses control characters.
static const char *key_text(const struct attach_key *key, char out[KEY_MAX])
{
	snprintf(out, KEY_MAX, "%s\n%s\n%s", key->network, key->container_id, key->ifname);
	return out;
}

static struct attach_key key_of(const struct attachment *at)
{
	return (struct attach_key){at->network, at->container_id, at->ifname};
}

struct attachment *attach_find(const struct attach *a, const struct attach_key *key)
{
	char text[KEY_MAX];

	return map_get(a->by_key, key_text(key, text));
}

const struct attachment *attach_by_port(const struct attach *a, uint16_t id)
{
	return id < PORT_MAX ? a->by_id[id] : NULL;
}

static char *holder_text(const struct attach_request *rq)
{
	char text[1024];

	if (rq->pod_name[0])
		snprintf(text, sizeof(text), "pod %s/%s (container %s, %s)", rq->pod_namespace,
			 rq->pod_name, rq->key.container_id, rq->key.ifname);
	else
		snprintf(text, sizeof(text), "container %s (network %s, %s)", rq->key.container_id,
			 rq->key.network, rq->key.ifname);
	return strdup(text);
}

struct attachment *attach_new(const struct attach_request *rq)
{
	struct attachment *at = calloc(1, sizeof(*at));

	if (!at)
		return NULL;
	at->network = strdup(rq->key.network);
	at->container_id = strdup(rq->key.container_id);
	at->ifname = strdup(rq->key.ifname);
	at->netns = strdup(rq->netns);
	at->pod_namespace = strdup(rq->pod_namespace);
	at->pod_name = strdup(rq->pod_name);
	at->pod_uid = strdup(rq->pod_uid);
	at->holder = holder_text(rq);
	if (!at->network || !at->container_id || !at->ifname || !at->netns || !at->pod_namespace ||
	    !at->pod_name || !at->pod_uid || !at->holder) {
		attach_free(at);
		return NULL;
	}
	at->delegated = rq->delegated;
	at->mac = rq->mac;
	at->mtu = rq->mtu;
	at->owner = rq->owner;
	return at;
}

void attach_free(struct attachment *at)
{
	if (!at)
		return;
	free(at->network);
	free(at->container_id);
	free(at->ifname);
	free(at->netns);
	free(at->pod_namespace);
	free(at->pod_name);
	free(at->pod_uid);
	free(at->holder);
	free(at);
}

static void free_value(void *value)
{
	attach_free(value);
}

int attach_insert(struct attach *a, struct attachment *at)
{
	struct attach_key key = key_of(at);
	char text[KEY_MAX];
	int r = map_set(a->by_key, key_text(&key, text), at);

	if (r < 0)
		return r;
	a->by_id[at->port_id] = at;
	if (at->state != ATTACH_ACTIVE)
		TAILQ_INSERT_TAIL(&a->pending, at, pending);
	return 0;
}

// The id waits at the end of the ring, so that it is the last to be used again.
void attach_give_id(struct attach *a, uint16_t id)
{
	a->free_ids[(a->free_head + a->free_count) % PORT_MAX] = id;
	a->free_count++;
}

static uint16_t next_id(struct attach *a)
{
	uint16_t id = a->free_ids[a->free_head];

	a->free_head = (a->free_head + 1) % PORT_MAX;
	a->free_count--;
	return id;
}

// 1 yes, 0 no, or -errno.
static int is_id_free(struct attach *a, uint16_t id, struct err *err)
{
	struct link_info info;
	int r;

	if (!a->conf.ops->id_is_free(a->conf.ops_arg, id))
		return 0;
	r = link_get_by_index(a->conf.rtnl, ATTACH_IFINDEX_BASE + id, &info, err);
	return r < 0 ? r : r == LINK_NOT_FOUND;
}

int attach_take_id(struct attach *a, uint16_t *ret_id, struct err *err)
{
	for (unsigned tries = a->free_count; tries > 0; tries--) {
		uint16_t id = next_id(a);
		int r = is_id_free(a, id, err);

		if (r > 0) {
			*ret_id = id;
			return 0;
		}
		attach_give_id(a, id);
		if (r < 0)
			return r;
	}
	err_set_code(err, ATTACH_CODE_RETRY, 0, "all %d ports are in use",
		     PORT_MAX - ATTACH_ID_MIN);
	return -ENOSPC;
}

void attach_use_id(struct attach *a, uint16_t id)
{
	for (unsigned n = a->free_count; n > 0; n--) {
		uint16_t head = next_id(a);

		if (head != id)
			attach_give_id(a, head);
	}
}

const char *attach_cookie(const struct attachment *at, char *out, size_t size)
{
	if (at->pod_name[0])
		snprintf(out, size, "pod/%s/%s", at->pod_namespace, at->pod_name);
	else
		snprintf(out, size, "attachment/%s/%s", at->container_id, at->ifname);
	return out;
}

int attach_open_port(struct attach *a, struct attachment *at, bool active, struct err *err)
{
	struct port *port = calloc(1, sizeof(*port));
	char cookie[1200];
	int r;

	if (!port)
		return err_set_code(err, ATTACH_CODE_IO, ENOMEM, "port");
	port->id = at->port_id;
	port->kind = PORT_KIND_POD;
	port->ifindex = at->ifindex;
	snprintf(port->name, sizeof(port->name), "%s", at->host_name);
	port->mac = at->mac;
	port->mtu = at->mtu;
	port->addr_count = at->addr_count;
	memcpy(port->addrs, at->addrs, sizeof(port->addrs));
	atomic_store(&port->active, active);
	r = a->conf.ops->port_open(a->conf.ops_arg, port, attach_cookie(at, cookie, sizeof(cookie)),
				   err);
	if (r < 0) {
		free(port);
		return r;
	}
	at->has_port = true;
	return 0;
}

void attach_close_port(struct attach *a, struct attachment *at)
{
	if (!at->has_port)
		return;
	a->conf.ops->port_close(a->conf.ops_arg, at->port_id);
	at->has_port = false;
}

void attach_set_state(struct attach *a, struct attachment *at, enum attach_state state,
		      uint64_t deadline_ns)
{
	bool was_pending = at->state != ATTACH_ACTIVE, is_pending = state != ATTACH_ACTIVE;

	if (was_pending && !is_pending)
		TAILQ_REMOVE(&a->pending, at, pending);
	if (!was_pending && is_pending)
		TAILQ_INSERT_TAIL(&a->pending, at, pending);
	at->state = state;
	at->deadline_ns = deadline_ns;
	a->conf.ops->changed(a->conf.ops_arg, ATTACH_CHANGED, at);
}

void attach_remove(struct attach *a, struct attachment *at)
{
	struct attach_key key = key_of(at);
	char text[KEY_MAX];

	if (at->state != ATTACH_ACTIVE)
		TAILQ_REMOVE(&a->pending, at, pending);
	map_take(a->by_key, key_text(&key, text));
	a->by_id[at->port_id] = NULL;
	attach_give_id(a, at->port_id);
}

void attach_release(struct attach *a, struct attachment *at)
{
	uint64_t now = clock_now_ns();

	attach_close_port(a, at);
	attach_link_del(a, at);
	attach_remove(a, at);
	for (unsigned i = 0; i < at->addr_count; i++)
		ipam_give(a->ipam, &at->addrs[i], now);
	attach_store_del(a, at);
	a->conf.ops->changed(a->conf.ops_arg, ATTACH_REMOVED, at);
	LOG_DEBUG("attachment released", "holder=%s port=%u", at->holder, at->port_id);
	attach_free(at);
}

static void expire(struct attach *a, struct attachment *at)
{
	if (at->state == ATTACH_WAITING) {
		attach_wait_failed(a, at);
		return;
	}
	if (at->state == ATTACH_GONE && attach_link_find(a, at, NULL) == 0) {
		attach_revive(a, at);
		return;
	}
	LOG_INFO("attachment taken back", "holder=%s state=%s", at->holder,
		 attach_state_name(at->state));
	attach_release(a, at);
}

void attach_tick(struct attach *a, uint64_t now_ns)
{
	struct attachment *at, *next;
	struct err err = ERR_INIT;

	for (at = TAILQ_FIRST(&a->pending); at; at = next) {
		next = TAILQ_NEXT(at, pending);
		if (at->deadline_ns > now_ns)
			continue;
		expire(a, at);
	}
	if (journal_is_stale(a->journal) && now_ns >= a->retry_ns &&
	    journal_rewrite(a->journal, &err) < 0)
		a->retry_ns = now_ns + RETRY_NS;
	if (!journal_is_stale(a->journal))
		a->retry_ns = 0;
}

uint64_t attach_deadline(const struct attach *a)
{
	uint64_t first = a->retry_ns ? a->retry_ns : UINT64_MAX;
	const struct attachment *at;

	TAILQ_FOREACH(at, &a->pending, pending)
	{
		if (at->deadline_ns < first)
			first = at->deadline_ns;
	}
	return first;
}

static void fill_ids(struct attach *a)
{
	for (uint16_t id = ATTACH_ID_MIN; id < PORT_MAX; id++)
		attach_give_id(a, id);
}

static int init(struct attach *a, const struct attach_conf *conf, struct err *err)
{
	const struct journal_conf jc = {
		.state_dir = conf->state_dir,
		.run_dir = conf->run_dir,
		.arg = a,
		.replay = attach_store_replay,
		.snapshot = attach_store_snapshot,
	};

	a->conf = *conf;
	a->mtu = conf->mtu;
	TAILQ_INIT(&a->pending);
	fill_ids(a);
	a->by_key = map_new(free_value);
	a->ipam = ipam_new();
	if (!a->by_key || !a->ipam)
		return err_set(err, ENOMEM, "attachments");
	if (conf->netns_fd >= 0 && reaper_open(conf->netns_fd, &a->reaper, err) < 0)
		return -ENOMEM;
	return journal_open(&jc, &a->report, &a->journal, err);
}

int attach_open(const struct attach_conf *conf, struct attach **ret_attach, struct err *err)
{
	struct attach *a = calloc(1, sizeof(*a));
	const struct journal_report *rep;
	int r;

	if (!a)
		return err_set(err, ENOMEM, "attachments");
	r = init(a, conf, err);
	if (r < 0) {
		attach_close(a);
		return r;
	}
	rep = &a->report;
	if (rep->damaged)
		LOG_ERR("journal is damaged; what is left of it is used",
			"dir=%s lines=%u corrupt=%u lost=%u", conf->state_dir, rep->lines,
			rep->corrupt, rep->lost);
	else if (rep->corrupt)
		LOG_WARN("journal had damaged lines; its second copy was whole",
			 "dir=%s corrupt=%u", conf->state_dir, rep->corrupt);
	*ret_attach = a;
	return 0;
}

void attach_close(struct attach *a)
{
	if (!a)
		return;
	reaper_close(a->reaper);
	journal_close(a->journal);
	map_free(a->by_key);
	ipam_free(a->ipam);
	free(a);
}

int attach_set_ranges(struct attach *a, const struct ipprefix *ranges, size_t count,
		      struct err *err)
{
	struct err ignored = ERR_INIT;
	int r = ipam_set_ranges(a->ipam, ranges, count, err);

	if (r < 0)
		return r;
	// Ranges stand in the snapshot only. A failure leaves the journal stale, which status
	// tells.
	if (journal_rewrite(a->journal, &ignored) < 0)
		a->retry_ns = clock_now_ns() + RETRY_NS;
	return 0;
}

void attach_set_mtu(struct attach *a, uint32_t mtu)
{
	a->mtu = mtu;
}

struct ipam *attach_ipam(struct attach *a)
{
	return a->ipam;
}

struct macaddr attach_gateway_mac(const struct attach *a)
{
	return a->conf.gateway_mac;
}

void attach_health(const struct attach *a, struct attach_health *ret)
{
	*ret = (struct attach_health){
		.journal_problem = journal_problem(a->journal),
		.unknown_links = a->unknown_links,
		.corrupt_lines = a->report.corrupt,
		.damaged = a->report.damaged,
	};
}
