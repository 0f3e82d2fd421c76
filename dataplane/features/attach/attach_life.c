// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"

LOG_MODULE("attach");

// ---- activation ----

static bool is_known(const struct attach *a, const struct attachment *at)
{
	return a->conf.standalone || !at->pod_name[0] ||
	       a->conf.ops->pod_is_known(a->conf.ops_arg, at->pod_namespace, at->pod_name);
}

static void set_active(struct attach *a, struct attachment *at)
{
	struct port *port = port_get(at->port_id);

	if (port)
		atomic_store(&port->active, true);
	at->owner = 0;
	attach_set_state(a, at, ATTACH_ACTIVE, 0);
	LOG_INFO("attached", "holder=%s port=%u link=%s", at->holder, at->port_id, at->host_name);
}

// Written down before anybody hears of it, and before the first packet passes.
static int finish(struct attach *a, struct attachment *at, struct err *err)
{
	enum attach_state before = at->state;
	int r;

	at->state = ATTACH_ACTIVE;
	r = attach_store_set(a, at, true, err);
	at->state = before;
	if (r == 0)
		set_active(a, at);
	return r;
}

static int find_reserved(struct attach *a, const struct attach_activation *act,
			 struct attachment **ret_at, struct err *err)
{
	struct attachment *at = attach_find(a, &act->key);

	if (!at || at->owner != act->owner || at->state != ATTACH_RESERVED)
		return err_set_code(err, ATTACH_CODE_UNKNOWN, 0,
				    "container %s has no reservation of %s on this connection",
				    act->key.container_id, act->key.ifname);
	*ret_at = at;
	return 0;
}

static int open_inactive(struct attach *a, struct attachment *at, struct err *err)
{
	int r = attach_link_find(a, at, err);

	if (r > 0)
		return err_set_code(err, ATTACH_CODE_LINK, 0,
				    "host end `%s` (index %u) is not in the private namespace",
				    at->host_name, at->ifindex);
	if (r == 0)
		r = attach_link_setup(a, at, err);
	if (r == 0)
		r = attach_open_port(a, at, false, err);
	if (r < 0) {
		if (err->code == 0)
			err->code = ATTACH_CODE_LINK;
		return r;
	}
	a->conf.ops->commit(a->conf.ops_arg);
	return 0;
}

static void start_wait(struct attach *a, struct attachment *at, const struct attach_activation *act)
{
	uint32_t ms = act->wait_ms ? act->wait_ms : ATTACH_WAIT_MS_DEFAULT;

	if (ms > ATTACH_WAIT_MS_MAX)
		ms = ATTACH_WAIT_MS_MAX;
	at->done = act->done;
	at->done_arg = act->done_arg;
	attach_set_state(a, at, ATTACH_WAITING, clock_now_ns() + ms * NS_PER_MS);
}

int attach_activate(struct attach *a, const struct attach_activation *act,
		    const struct attachment **ret_at, struct err *err)
{
	struct attachment *at = NULL;
	int r = find_reserved(a, act, &at, err);

	if (r < 0)
		return r;
	r = open_inactive(a, at, err);
	if (r == 0 && !is_known(a, at)) {
		start_wait(a, at, act);
		return ATTACH_WAITS;
	}
	if (r == 0)
		r = finish(a, at, err);
	if (r < 0) {
		attach_release(a, at);
		return r;
	}
	*ret_at = at;
	return 0;
}

// Ends a wait: the caller is told, and after a failure nothing is left.
static void end_wait(struct attach *a, struct attachment *at, const struct err *err)
{
	attach_done_fn *done = at->done;
	void *arg = at->done_arg;

	at->done = NULL;
	if (!err) {
		done(at, NULL, arg);
		return;
	}
	attach_release(a, at);
	done(NULL, err, arg);
}

void attach_wait_failed(struct attach *a, struct attachment *at)
{
	struct err err = ERR_INIT;

	err_set_code(&err, ATTACH_CODE_RETRY, 0, "weft-agent has not announced pod %s/%s in time",
		     at->pod_namespace, at->pod_name);
	end_wait(a, at, &err);
}

void attach_pods_changed(struct attach *a)
{
	struct attachment *at, *next;

	for (at = TAILQ_FIRST(&a->pending); at; at = next) {
		struct err err = ERR_INIT;

		next = TAILQ_NEXT(at, pending);
		if (at->state == ATTACH_WAITING && is_known(a, at))
			end_wait(a, at, finish(a, at, &err) < 0 ? &err : NULL);
	}
}

// ---- the end ----

int attach_detach(struct attach *a, const struct attach_key *key)
{
	struct attachment *at = attach_find(a, key);
	struct err err = ERR_INIT;

	if (!at)
		return ATTACH_NOT_FOUND;
	LOG_INFO("detached", "holder=%s port=%u", at->holder, at->port_id);
	if (at->state != ATTACH_WAITING) {
		attach_release(a, at);
		return 0;
	}
	err_set_code(&err, ATTACH_CODE_RETRY, 0, "%s was detached meanwhile", at->holder);
	end_wait(a, at, &err);
	return 0;
}

void attach_owner_gone(struct attach *a, uint64_t owner)
{
	struct attachment *at, *next;

	for (at = TAILQ_FIRST(&a->pending); at; at = next) {
		next = TAILQ_NEXT(at, pending);
		if (at->owner != owner)
			continue;
		LOG_INFO("reservation died with its connection", "holder=%s", at->holder);
		at->done = NULL;
		attach_release(a, at);
	}
}

// An active attachment without a host end: its pod's namespace is gone, or somebody deleted the
// link.
static void went(struct attach *a, struct attachment *at)
{
	struct err err = ERR_INIT;

	if (at->state == ATTACH_WAITING) {
		err_set_code(&err, ATTACH_CODE_LINK, 0, "host end `%s` vanished", at->host_name);
		end_wait(a, at, &err);
	} else if (at->state == ATTACH_ACTIVE) {
		LOG_INFO("host end is gone", "holder=%s port=%u link=%s", at->holder, at->port_id,
			 at->host_name);
		attach_close_port(a, at);
		if (at->unlisted)
			attach_release(a, at);
		else
			attach_set_state(a, at, ATTACH_GONE, clock_now_ns() + ATTACH_GONE_NS);
	}
}

void attach_link_gone(struct attach *a, uint32_t ifindex)
{
	uint32_t id = ifindex - ATTACH_IFINDEX_BASE;
	struct attachment *at =
		ifindex > ATTACH_IFINDEX_BASE && id < PORT_MAX ? a->by_id[id] : NULL;

	// The event may be older than a link that was made again under the same index.
	if (at && attach_link_find(a, at, NULL) == LINK_NOT_FOUND)
		went(a, at);
}

void attach_resync(struct attach *a)
{
	for (uint16_t id = ATTACH_ID_MIN; id < PORT_MAX; id++)
		if (a->by_id[id])
			attach_link_gone(a, ATTACH_IFINDEX_BASE + id);
}

void attach_gc(struct attach *a, const struct attach_gc *gc)
{
	for (uint16_t id = ATTACH_ID_MIN; id < PORT_MAX; id++) {
		struct attachment *at = a->by_id[id];

		if (!at || strcmp(at->network, gc->network) != 0)
			continue;
		if (at->state == ATTACH_RESERVED || at->state == ATTACH_WAITING)
			continue;
		// The kernel takes a namespace down some time after its last user: what is not gone
		// yet is kept until the link goes, and not a minute longer.
		at->unlisted = gc->has_list && !gc->is_valid(at, gc->arg);
		if (gc->has_list && !at->unlisted)
			continue;
		if (at->state == ATTACH_ACTIVE && attach_link_find(a, at, NULL) != LINK_NOT_FOUND)
			continue;
		gc->released(at, gc->arg);
		attach_release(a, at);
	}
}

// ---- check ----

static int mismatch(struct err *err, const struct attachment *at, const char *what)
{
	return err_set_code(err, ATTACH_CODE_MISMATCH, 0, "%s: %s", at->holder, what);
}

static bool has_addr(const struct attachment *at, const struct ipaddr *addr)
{
	for (unsigned i = 0; i < at->addr_count; i++)
		if (ipaddr_is_equal(&at->addrs[i], addr))
			return true;
	return false;
}

static int check_addrs(const struct attachment *at, const struct attach_check *c, struct err *err)
{
	char text[IPADDR_TEXT_MAX], what[128];

	for (size_t i = 0; i < c->addr_count; i++) {
		if (has_addr(at, &c->addrs[i]))
			continue;
		snprintf(what, sizeof(what), "%s is not its address",
			 ipaddr_format(&c->addrs[i], text));
		return mismatch(err, at, what);
	}
	return c->addr_count < at->addr_count ? mismatch(err, at, "an address is missing") : 0;
}

// A later plugin of the chain changed the MAC: the port is made again, since packets carry it.
static int change_mac(struct attach *a, struct attachment *at, const struct macaddr *mac,
		      struct err *err)
{
	struct macaddr before = at->mac;
	int r;

	if (memcmp(&before, mac, sizeof(before)) == 0)
		return 0;
	r = attach_check_mac(a, mac, err);
	if (r < 0)
		return r;
	at->mac = *mac;
	r = attach_store_set(a, at, true, err);
	if (r < 0) {
		at->mac = before;
		return r;
	}
	return a->conf.ops->port_mac(a->conf.ops_arg, at->port_id, mac, err);
}

int attach_check(struct attach *a, const struct attach_check *c, struct err *err)
{
	struct attachment *at = attach_find(a, &c->key);
	int r;

	if (!at)
		return err_set_code(err, ATTACH_CODE_UNKNOWN, 0, "container %s has no %s here",
				    c->key.container_id, c->key.ifname);
	if (at->state != ATTACH_ACTIVE)
		return mismatch(err, at, attach_state_name(at->state));
	r = attach_link_find(a, at, err);
	if (r > 0)
		return mismatch(err, at, "the host end is gone");
	if (r == 0 && c->addr_count > 0)
		r = check_addrs(at, c, err);
	if (r == 0 && c->has_mac)
		r = change_mac(a, at, &c->mac, err);
	return r;
}
