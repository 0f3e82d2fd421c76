// SPDX-License-Identifier: Apache-2.0
#include "features/attach/ipam.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "features/attach/ipam_range.h"

TAILQ_HEAD(queue, entry);

struct entry {
	struct ipaddr addr;
	const char *holder; // NULL: freed, waits in the queue of its range
	uint64_t freed_ns;
	TAILQ_ENTRY(entry) link;
};

struct range {
	struct ipprefix prefix; // host bits cleared
	uint64_t next, end; // offsets: first never given, first behind the last that can be given
	struct queue freed; // oldest first
	size_t freed_len;
};

struct ipam {
	struct map *entries; // text of the address -> struct entry
	struct range ranges[IPAM_RANGES_MAX];
	size_t range_count;
};

static void range_init(struct range *r, const struct ipprefix *p)
{
	*r = (struct range){.prefix = {.addr = ipprefix_mask(p), .len = p->len},
			    .next = IPAM_RANGE_FIRST};
	r->end = ipam_range_end(&r->prefix);
	TAILQ_INIT(&r->freed);
}

struct ipam *ipam_new(void)
{
	struct ipam *ipam = calloc(1, sizeof(*ipam));

	if (!ipam)
		return NULL;
	ipam->entries = map_new(free);
	if (!ipam->entries) {
		free(ipam);
		return NULL;
	}
	return ipam;
}

void ipam_free(struct ipam *ipam)
{
	if (!ipam)
		return;
	map_free(ipam->entries);
	free(ipam);
}

static struct entry *entry_get(const struct ipam *ipam, const struct ipaddr *a)
{
	char text[IPADDR_TEXT_MAX];

	return map_get(ipam->entries, ipaddr_format(a, text));
}

static void entry_remove(struct ipam *ipam, const struct ipaddr *a)
{
	char text[IPADDR_TEXT_MAX];

	map_del(ipam->entries, ipaddr_format(a, text));
}

static struct entry *entry_make(struct ipam *ipam, const struct ipaddr *a)
{
	_free_ struct entry *e = calloc(1, sizeof(*e));
	char text[IPADDR_TEXT_MAX];

	if (!e)
		return NULL;
	e->addr = *a;
	if (map_set(ipam->entries, ipaddr_format(a, text), e) < 0)
		return NULL;
	return TAKE_PTR(e);
}

static struct range *range_of(const struct ipam *ipam, const struct ipaddr *a)
{
	for (size_t i = 0; i < ipam->range_count; i++)
		if (ipprefix_has(&ipam->ranges[i].prefix, a))
			return (struct range *)&ipam->ranges[i];
	return NULL;
}

static void queue_push(struct range *r, struct entry *e, uint64_t now_ns)
{
	e->holder = NULL;
	e->freed_ns = now_ns;
	TAILQ_INSERT_TAIL(&r->freed, e, link);
	r->freed_len++;
}

static void queue_remove(struct range *r, struct entry *e)
{
	TAILQ_REMOVE(&r->freed, e, link);
	r->freed_len--;
}

static void queue_drop(struct ipam *ipam, struct range *r)
{
	struct entry *e;

	while ((e = TAILQ_FIRST(&r->freed))) {
		struct ipaddr a = e->addr;

		queue_remove(r, e);
		entry_remove(ipam, &a);
	}
}

static struct range *range_find(struct ipam *ipam, const struct ipprefix *p)
{
	struct ipaddr base = ipprefix_mask(p);

	for (size_t i = 0; i < ipam->range_count; i++) {
		struct range *r = &ipam->ranges[i];

		if (r->prefix.len == p->len && ipaddr_is_equal(&r->prefix.addr, &base))
			return r;
	}
	return NULL;
}

static void range_move(struct range *to, struct range *from)
{
	to->next = from->next;
	TAILQ_CONCAT(&to->freed, &from->freed, link);
	to->freed_len = from->freed_len;
	from->freed_len = 0;
}

// Takes over what a range was before. An entry always waits in the queue of range_of its address,
// which overlapping ranges may have changed.
static void range_settle(struct ipam *ipam, size_t i, struct range *from)
{
	struct entry *e;

	ipam->ranges[i].next = from->next;
	while ((e = TAILQ_FIRST(&from->freed))) {
		queue_remove(from, e);
		queue_push(range_of(ipam, &e->addr), e, e->freed_ns);
	}
}

int ipam_set_ranges(struct ipam *ipam, const struct ipprefix *ranges, size_t count, struct err *err)
{
	struct range fresh[IPAM_RANGES_MAX];

	if (count > IPAM_RANGES_MAX)
		return err_set(err, 0, "%zu pod ranges, at most %d are possible", count,
			       IPAM_RANGES_MAX);
	for (size_t i = 0; i < count; i++) {
		struct range *old = range_find(ipam, &ranges[i]);

		range_init(&fresh[i], &ranges[i]);
		if (old)
			range_move(&fresh[i], old);
	}
	for (size_t i = 0; i < ipam->range_count; i++)
		queue_drop(ipam, &ipam->ranges[i]);
	for (size_t i = 0; i < count; i++)
		range_init(&ipam->ranges[i], &ranges[i]);
	ipam->range_count = count;
	for (size_t i = 0; i < count; i++)
		range_settle(ipam, i, &fresh[i]);
	return 0;
}

size_t ipam_range_count(const struct ipam *ipam)
{
	return ipam->range_count;
}

struct count_arg {
	const struct ipprefix *prefix;
	uint64_t used;
};

static int count_used(const char *key, void *value, void *arg)
{
	struct count_arg *c = arg;
	const struct entry *e = value;

	(void)key;
	c->used += e->holder && ipprefix_has(c->prefix, &e->addr);
	return 0;
}

void ipam_usage(const struct ipam *ipam, size_t i, struct ipam_usage *ret)
{
	const struct range *r = &ipam->ranges[i];
	struct count_arg c = {.prefix = &r->prefix};

	(void)map_foreach(ipam->entries, count_used, &c);
	*ret = (struct ipam_usage){.prefix = r->prefix,
				   .next = r->next,
				   .used = c.used,
				   .total = ipam_range_total(&r->prefix)};
}

bool ipam_gateway(const struct ipam *ipam, size_t i, struct ipaddr *ret)
{
	const struct range *r = &ipam->ranges[i];

	if (ipam_range_total(&r->prefix) == 0)
		return false;
	*ret = ipaddr_add(&r->prefix.addr, 1);
	return true;
}

bool ipam_has_family(const struct ipam *ipam, bool v4)
{
	for (size_t i = 0; i < ipam->range_count; i++)
		if (ipaddr_is_v4(&ipam->ranges[i].prefix.addr) == v4)
			return true;
	return false;
}

static struct entry *take_freed(struct range *r)
{
	struct entry *e = TAILQ_FIRST(&r->freed);

	if (e)
		queue_remove(r, e);
	return e;
}

static bool is_queue_ripe(const struct range *r, uint64_t now_ns)
{
	const struct entry *e = TAILQ_FIRST(&r->freed);

	return r->freed_len >= IPAM_RESTING && now_ns - e->freed_ns >= IPAM_REST_NS;
}

// The entry of the next address without a holder; NULL: none is left, or no memory (*ret_full
// tells).
static struct entry *range_pick(struct ipam *ipam, struct range *r, uint64_t now_ns, bool *ret_full)
{
	*ret_full = false;
	if (is_queue_ripe(r, now_ns))
		return take_freed(r);
	while (r->next < r->end) {
		struct ipaddr a = ipaddr_add(&r->prefix.addr, r->next);
		struct entry *e = entry_get(ipam, &a);

		if (!e) {
			e = entry_make(ipam, &a);
			r->next += e != NULL;
			return e;
		}
		r->next++; // asked for by somebody earlier
	}
	*ret_full = TAILQ_EMPTY(&r->freed);
	return take_freed(r);
}

static void describe(const struct ipam *ipam, bool v4, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ipam->range_count && len < size; i++) {
		char text[IPPREFIX_TEXT_MAX];
		struct ipam_usage u;

		ipam_usage(ipam, i, &u);
		if (ipaddr_is_v4(&u.prefix.addr) == v4)
			len += (size_t)snprintf(
				out + len, size - len, "%s%s: %" PRIu64 " of %" PRIu64 " used",
				len ? ", " : "", ipprefix_format(&u.prefix, text), u.used, u.total);
	}
}

int ipam_take(struct ipam *ipam, bool v4, const char *holder, uint64_t now_ns,
	      struct ipaddr *ret_addr, struct err *err)
{
	char ranges[512];

	for (size_t i = 0; i < ipam->range_count; i++) {
		struct range *r = &ipam->ranges[i];
		struct entry *e;
		bool full;

		if (ipaddr_is_v4(&r->prefix.addr) != v4)
			continue;
		e = range_pick(ipam, r, now_ns, &full);
		if (!e && !full)
			return err_set_code(err, IPAM_CODE, ENOMEM, "address");
		if (e) {
			e->holder = holder;
			*ret_addr = e->addr;
			return 0;
		}
	}
	describe(ipam, v4, ranges, sizeof(ranges));
	err_set_code(err, IPAM_CODE, 0, "no free address in %s", ranges);
	return -ENOSPC;
}

static int check_in_range(const struct range *r, const struct ipaddr *addr, struct err *err)
{
	char text[IPADDR_TEXT_MAX], range[IPPREFIX_TEXT_MAX];
	const char *role;

	ipaddr_format(addr, text);
	if (!r) {
		err_set_code(err, IPAM_CODE, 0, "%s is outside the node's pod ranges", text);
		return -ERANGE;
	}
	role = ipam_range_role(&r->prefix, addr);
	if (!role)
		return 0;
	return err_set_code(err, IPAM_CODE, 0, "%s is the %s of %s", text, role,
			    ipprefix_format(&r->prefix, range));
}

int ipam_take_addr(struct ipam *ipam, const struct ipaddr *addr, bool outside, const char *holder,
		   struct err *err)
{
	struct range *r = range_of(ipam, addr);
	struct entry *e = entry_get(ipam, addr);
	char text[IPADDR_TEXT_MAX];
	int res;

	if (!ipaddr_is_unicast(addr) || ipaddr_is_link_local(addr))
		return err_set_code(err, IPAM_CODE, 0, "%s is no address for a pod",
				    ipaddr_format(addr, text));
	res = outside ? 0 : check_in_range(r, addr, err);
	if (res < 0)
		return res;
	if (e && e->holder) {
		err_set_code(err, IPAM_CODE, 0, "%s is taken by %s", ipaddr_format(addr, text),
			     e->holder);
		return -EEXIST;
	}
	if (e)
		queue_remove(r, e);
	else
		e = entry_make(ipam, addr);
	if (!e)
		return err_set_code(err, IPAM_CODE, ENOMEM, "address");
	e->holder = holder;
	// Keeps the cursor where it would be had this address been given in order.
	if (r && r->next < r->end && ipam_range_offset(&r->prefix, addr) == r->next)
		r->next++;
	return 0;
}

void ipam_give(struct ipam *ipam, const struct ipaddr *addr, uint64_t now_ns)
{
	struct entry *e = entry_get(ipam, addr);
	struct range *r = range_of(ipam, addr);

	if (!e || !e->holder)
		return;
	// A reserved address can only have come from outside and is not to be given by us.
	if (r && !ipam_range_role(&r->prefix, addr))
		queue_push(r, e, now_ns);
	else
		entry_remove(ipam, addr);
}

const char *ipam_holder(const struct ipam *ipam, const struct ipaddr *addr)
{
	const struct entry *e = entry_get(ipam, addr);

	return e ? e->holder : NULL;
}

void ipam_restore_next(struct ipam *ipam, const struct ipprefix *range, uint64_t next)
{
	struct range *r = range_find(ipam, range);

	if (r && next > r->next)
		r->next = next < r->end ? next : r->end;
}

int ipam_restore_freed(struct ipam *ipam, const struct ipaddr *addr, uint64_t now_ns)
{
	struct range *r = range_of(ipam, addr);
	struct entry *e = entry_get(ipam, addr);

	if (!r || ipam_range_role(&r->prefix, addr) || (e && e->holder))
		return 0;
	if (e)
		queue_remove(r, e);
	else
		e = entry_make(ipam, addr);
	if (!e)
		return -ENOMEM;
	queue_push(r, e, now_ns);
	return 0;
}

int ipam_foreach_freed(const struct ipam *ipam, int (*fn)(const struct ipaddr *addr, void *arg),
		       void *arg)
{
	for (size_t i = 0; i < ipam->range_count; i++) {
		struct entry *e;

		TAILQ_FOREACH(e, &ipam->ranges[i].freed, link)
		{
			int r = fn(&e->addr, arg);

			if (r != 0)
				return r;
		}
	}
	return 0;
}
