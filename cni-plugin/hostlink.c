// SPDX-License-Identifier: Apache-2.0
#include "hostlink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "netlink/link.h"
#include "netlink/netns.h"
#include "netlink/rtnl.h"

#define NETNS_DIR "/run/netns"
#define NAME_DIGITS 12 // of the hash, behind "w"
#define NETNS_NAME_MAX 1024

struct search {
	char alias[sizeof("weft:") + ATTACHMENT_HASH_MAX];
	char name[LINK_NAME_MAX];
	uint32_t ifindex; // 0 until it is found
};

static int match_alias(const struct link_info *info, void *arg)
{
	struct search *s = arg;

	if (strcmp(info->alias, s->alias) != 0)
		return 0;
	s->ifindex = info->ifindex;
	return 1;
}

static int find(struct rtnl *rtnl, struct search *s, bool thorough, struct err *err)
{
	struct link_info info;
	int r = link_get_by_name(rtnl, s->name, &info, err);

	if (r < 0)
		return r;
	// The name alone is enough where there is no alias: nobody else makes links here, and two
	// unfinished attachments with 48 equal bits of hash do not happen.
	if (r == 0 && (info.alias[0] == 0 || strcmp(info.alias, s->alias) == 0))
		s->ifindex = info.ifindex;
	if (s->ifindex == 0 && thorough)
		r = link_foreach(rtnl, match_alias, s, err);
	return r < 0 ? r : 0;
}

static int open_rtnl(const char *netns_name, struct rtnl **ret_rtnl, struct err *err)
{
	char path[NETNS_NAME_MAX + sizeof(NETNS_DIR)];
	int outcome = 0;
	_close_ int fd = -1;

	snprintf(path, sizeof(path), NETNS_DIR "/%s", netns_name);
	fd = netns_open(path, &outcome, err);
	if (fd < 0)
		return outcome != 0 ? HOSTLINK_NOT_FOUND : fd;
	return rtnl_open_in(fd, ret_rtnl, err);
}

int hostlink_remove(const char *netns_name, const struct attachment *a, bool thorough,
		    struct err *err)
{
	_cleanup_(rtnl_closep) struct rtnl *rtnl = NULL;
	char hash[ATTACHMENT_HASH_MAX];
	struct search s = {0};
	struct err own = ERR_INIT;
	int r = open_rtnl(netns_name, &rtnl, &own);

	attachment_hash(a, hash);
	snprintf(s.alias, sizeof(s.alias), "weft:%s", hash);
	snprintf(s.name, sizeof(s.name), "w%.*s", NAME_DIGITS, hash);
	if (r == 0)
		r = find(rtnl, &s, thorough, &own);
	if (r == 0)
		r = s.ifindex ? link_del(rtnl, s.ifindex, &own) : HOSTLINK_NOT_FOUND;
	if (r < 0)
		*err = own;
	return r > 0 ? HOSTLINK_NOT_FOUND : r;
}
