// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"

#define NAME_LEN 13 // "w" and 12 hex digits

LOG_MODULE("attach");

// The links of the private namespace as they are at start.
struct found {
	struct link_info *links;
	size_t count, cap;
};

static int add_link(const struct link_info *info, void *arg)
{
	struct found *f = arg;

	if (f->count == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 64;
		struct link_info *links = reallocarray(f->links, cap, sizeof(*links));

		if (!links)
			return -ENOMEM;
		f->links = links;
		f->cap = cap;
	}
	f->links[f->count++] = *info;
	return 0;
}

static void found_fini(struct found *f)
{
	free(f->links);
}

static const struct link_info *link_of(const struct found *f, const struct attachment *at)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct link_info *info = &f->links[i];

		if (info->ifindex == at->ifindex && strcmp(info->name, at->host_name) == 0)
			return info;
	}
	return NULL;
}

void attach_revive(struct attach *a, struct attachment *at)
{
	struct err err = ERR_INIT;
	int r = attach_link_setup(a, at, &err);

	if (r == 0)
		r = attach_open_port(a, at, true, &err);
	if (r == 0) {
		attach_set_state(a, at, ATTACH_ACTIVE, 0);
		return;
	}
	LOG_ERR("port is not opened again; the pod has no network", "holder=%s why=%s", at->holder,
		err.text);
	attach_set_state(a, at, ATTACH_GONE, clock_now_ns() + ATTACH_GONE_NS);
}

static void restore_one(struct attach *a, struct attachment *at, const struct found *f)
{
	bool alive = link_of(f, at) != NULL;

	if (at->state == ATTACH_ACTIVE || at->state == ATTACH_GONE) {
		if (alive) {
			attach_revive(a, at);
			return;
		}
		if (!a->report.new_boot) {
			attach_set_state(a, at, ATTACH_GONE, clock_now_ns() + ATTACH_GONE_NS);
			return;
		}
	}
	// A reservation without its connection, or a pod of an earlier boot.
	attach_release(a, at);
}

static bool is_host_end(const struct link_info *info)
{
	size_t len = strlen(ATTACH_HOST_PREFIX);

	if (strncmp(info->alias, ATTACH_HOST_PREFIX, len) == 0)
		return true;
	return strcmp(info->kind, "veth") == 0 && info->name[0] == 'w' &&
	       strlen(info->name) == NAME_LEN &&
	       strspn(info->name + 1, "0123456789abcdef") == NAME_LEN - 1;
}

// An alias is set when a port is opened. Where the journal cannot be trusted such a link may well
// be a running pod's.
static void judge_stranger(struct attach *a, const struct link_info *info)
{
	struct err err = ERR_INIT;

	if (info->alias[0] && (a->report.damaged || a->report.fresh)) {
		a->unknown_links++;
		LOG_ERR("host end without a record: its pod has no network and its addresses are "
			"unknown; restart the pod",
			"link=%s index=%u", info->name, info->ifindex);
		return;
	}
	LOG_INFO("host end of nobody is removed", "link=%s index=%u", info->name, info->ifindex);
	if (link_del(a->conf.rtnl, info->ifindex, &err) < 0)
		LOG_WARN("host end is not removed", "link=%s why=%s", info->name, err.text);
}

static bool is_recorded(const struct attach *a, const struct link_info *info)
{
	uint32_t id = info->ifindex - ATTACH_IFINDEX_BASE;
	const struct attachment *at = id < PORT_MAX ? a->by_id[id] : NULL;

	return at && strcmp(at->host_name, info->name) == 0;
}

static void restore_all(struct attach *a, const struct found *f)
{
	// Before records are released: their links go with them.
	for (size_t i = 0; i < f->count; i++)
		if (is_host_end(&f->links[i]) && !is_recorded(a, &f->links[i]))
			judge_stranger(a, &f->links[i]);
	for (uint16_t id = ATTACH_ID_MIN; id < PORT_MAX; id++)
		if (a->by_id[id])
			restore_one(a, a->by_id[id], f);
	a->conf.ops->commit(a->conf.ops_arg);
}

int attach_restore(struct attach *a, struct err *err)
{
	_cleanup_(found_fini) struct found f = {0};
	struct err journal = ERR_INIT;
	int r = link_foreach(a->conf.rtnl, add_link, &f, err);

	if (r < 0)
		return err_wrap(err, r, "links of the private namespace");
	restore_all(a, &f);
	if (journal_rewrite(a->journal, &journal) < 0) {
		LOG_ERR("journal cannot be written; no pod can be added", "why=%s", journal.text);
		a->retry_ns = clock_now_ns() + 1;
	}
	return 0;
}
