// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"

#define HASH_TEXT_MAX 33
#define NAME_DIGITS 12
#define SALTS_MAX 16
#define UNSEEN_MS 100 // a link is usually out of sight within 1 ms
#define POLL_NS 50000

LOG_MODULE("attach");

static bool is_name_ours(const struct attach *a, const char *name)
{
	for (uint16_t id = ATTACH_ID_MIN; id < PORT_MAX; id++)
		if (a->by_id[id] && strcmp(a->by_id[id]->host_name, name) == 0)
			return true;
	return false;
}

// 1 taken, 0 free, or -errno.
static int is_name_taken(struct attach *a, const char *name, struct err *err)
{
	struct link_info info;
	int r;

	if (is_name_ours(a, name))
		return 1;
	r = link_get_by_name(a->conf.rtnl, name, &info, err);
	return r < 0 ? r : r != LINK_NOT_FOUND;
}

static void hash_key(const struct attachment *at, const char *salt, char out[HASH_TEXT_MAX])
{
	const char *const parts[] = {at->network, at->container_id, at->ifname, salt};

	hash_strings_hex(parts, salt ? 4 : 3, out);
}

int attach_link_name(struct attach *a, struct attachment *at, struct err *err)
{
	char hash[HASH_TEXT_MAX];

	hash_key(at, NULL, hash);
	snprintf(at->alias, sizeof(at->alias), ATTACH_HOST_PREFIX "%s", hash);
	for (int i = 0; i < SALTS_MAX; i++) {
		char salt[12];
		int r;

		snprintf(at->host_name, sizeof(at->host_name), "w%.*s", NAME_DIGITS, hash);
		r = is_name_taken(a, at->host_name, err);
		if (r <= 0)
			return r;
		snprintf(salt, sizeof(salt), "%d", i);
		hash_key(at, salt, hash);
	}
	return err_set_code(err, ATTACH_CODE_LINK, 0, "no free name for the host end of %s",
			    at->holder);
}

int attach_link_find(struct attach *a, const struct attachment *at, struct err *err)
{
	struct link_info info;
	int r = link_get_by_index(a->conf.rtnl, at->ifindex, &info, err);

	if (r != 0)
		return r;
	return strcmp(info.name, at->host_name) == 0 ? 0 : LINK_NOT_FOUND;
}

int attach_link_setup(struct attach *a, const struct attachment *at, struct err *err)
{
	const struct link_change change = {
		.ifindex = at->ifindex,
		.up = 1,
		.noarp = 1,
		.addrgen_none = true,
		.alias = at->alias,
	};
	int r = link_set(a->conf.rtnl, &change, err);

	if (r == LINK_NOT_FOUND)
		return err_set_code(err, ATTACH_CODE_LINK, ENODEV, "host end `%s`", at->host_name);
	return r;
}

// Until nobody can see the link any more, which is long before the kernel is done with it.
static void wait_unseen(struct attach *a, const struct attachment *at)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	uint64_t deadline = clock_deadline_ns(UNSEEN_MS);

	while (attach_link_find(a, at, NULL) == 0 && clock_now_ns() < deadline)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static int delete (struct attach *a, const struct attachment *at, struct err *err)
{
	if (!a->reaper || reaper_add(a->reaper, at->ifindex) < 0)
		return link_del(a->conf.rtnl, at->ifindex, err);
	wait_unseen(a, at);
	return 0;
}

void attach_link_del(struct attach *a, const struct attachment *at)
{
	struct err err = ERR_INIT;
	int r = attach_link_find(a, at, &err);

	if (r == 0)
		r = delete (a, at, &err);
	if (r < 0)
		LOG_WARN("host end is not removed", "link=%s why=%s", at->host_name, err.text);
}
