// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"
#include "json/jput.h"

#define FREED_PER_LINE 128
#define DEPTH_MAX 6

LOG_MODULE("attach");

// ---- writing ----

static void put_key(struct jput *j, const struct attachment *at)
{
	jput_string(j, "network", at->network);
	jput_string(j, "container_id", at->container_id);
	jput_string(j, "ifname", at->ifname);
}

static char *set_text(const struct attachment *at)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_object(j, "set");
	put_key(j, at);
	jput_string(j, "netns", at->netns);
	jput_string(j, "pod_namespace", at->pod_namespace);
	jput_string(j, "pod_name", at->pod_name);
	jput_string(j, "pod_uid", at->pod_uid);
	jput_array(j, "ips");
	for (unsigned i = 0; i < at->addr_count; i++)
		jput_ipaddr(j, NULL, &at->addrs[i]);
	jput_end(j);
	jput_bool(j, "delegated", at->delegated);
	jput_mac(j, "mac", &at->mac);
	jput_int(j, "mtu", at->mtu);
	jput_int(j, "port", at->port_id);
	jput_string(j, "host", at->host_name);
	jput_string(j, "alias", at->alias);
	jput_string(j, "state", attach_state_name(at->state));
	jput_end(j);
	jput_end(j);
	return jput_take(j);
}

static char *del_text(const struct attachment *at)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_object(j, "del");
	put_key(j, at);
	jput_end(j);
	jput_end(j);
	return jput_take(j);
}

int attach_store_set(struct attach *a, const struct attachment *at, bool sync, struct err *err)
{
	_free_ char *text = set_text(at);
	int r;

	if (!text)
		return err_set_code(err, ATTACH_CODE_IO, ENOMEM, "journal line");
	r = journal_add(a->journal, text, sync, err);
	if (r < 0) {
		a->retry_ns = clock_now_ns() + 1;
		if (err)
			err->code = ATTACH_CODE_IO;
	}
	return r;
}

void attach_store_del(struct attach *a, const struct attachment *at)
{
	_free_ char *text = del_text(at);
	struct err err = ERR_INIT;
	int r = text ? journal_add(a->journal, text, false, &err) : -ENOMEM;

	if (r == 0)
		return;
	a->retry_ns = clock_now_ns() + 1;
	LOG_ERR_LIMIT("journal cannot be written; the release is written later", "why=%s",
		      err.text);
}

static int emit(struct journal *j, char *text)
{
	_free_ char *owned = text;

	return owned ? journal_emit(j, owned) : -ENOMEM;
}

static int emit_ranges(struct attach *a, struct journal *j)
{
	for (size_t i = 0; i < ipam_range_count(a->ipam); i++) {
		_cleanup_(jput_freep) struct jput *p = jput_new();
		struct ipam_usage u;
		int r;

		ipam_usage(a->ipam, i, &u);
		jput_object(p, NULL);
		jput_object(p, "range");
		jput_ipprefix(p, "prefix", &u.prefix);
		jput_u64(p, "next", u.next);
		jput_end(p);
		jput_end(p);
		r = emit(j, jput_take(p));
		if (r < 0)
			return r;
	}
	return 0;
}

struct freed_arg {
	struct journal *journal;
	struct jput *line;
	unsigned count; // in line
};

static int freed_flush(struct freed_arg *f)
{
	char *text;

	if (!f->line)
		return 0;
	jput_end(f->line);
	jput_end(f->line);
	text = jput_take(f->line);
	jput_free(f->line);
	f->line = NULL;
	f->count = 0;
	return emit(f->journal, text);
}

static int freed_add(const struct ipaddr *addr, void *arg)
{
	struct freed_arg *f = arg;

	if (!f->line) {
		f->line = jput_new();
		jput_object(f->line, NULL);
		jput_array(f->line, "freed");
	}
	jput_ipaddr(f->line, NULL, addr);
	return ++f->count == FREED_PER_LINE ? freed_flush(f) : 0;
}

static int emit_freed(struct attach *a, struct journal *j)
{
	struct freed_arg f = {.journal = j};
	int r = ipam_foreach_freed(a->ipam, freed_add, &f);

	if (r == 0)
		return freed_flush(&f);
	jput_free(f.line);
	return r;
}

int attach_store_snapshot(struct journal *j, void *arg)
{
	struct attach *a = arg;
	int r = emit_ranges(a, j);

	if (r == 0)
		r = emit_freed(a, j);
	for (uint16_t id = ATTACH_ID_MIN; r == 0 && id < PORT_MAX; id++)
		if (a->by_id[id])
			r = emit(j, set_text(a->by_id[id]));
	return r;
}

// ---- reading ----

static int get_state(const struct jval *v, enum attach_state *ret, struct err *err)
{
	const char *text;
	int r = jget_string(v, "state", JREQUIRED, &text, err);

	if (r < 0)
		return r;
	for (int s = ATTACH_RESERVED; s <= ATTACH_GONE; s++) {
		if (strcmp(text, attach_state_name((enum attach_state)s)) == 0) {
			// Whoever waited did so on a connection of the former daemon.
			*ret = s == ATTACH_WAITING ? ATTACH_RESERVED : (enum attach_state)s;
			return 0;
		}
	}
	return err_set(err, 0, "state `%.32s`", text);
}

static int get_key(const struct jval *v, struct attach_key *ret, struct err *err)
{
	int r = jget_string(v, "network", JREQUIRED, &ret->network, err);

	if (r == 0)
		r = jget_string(v, "container_id", JREQUIRED, &ret->container_id, err);
	if (r == 0)
		r = jget_string(v, "ifname", JREQUIRED, &ret->ifname, err);
	return r;
}

static int get_addrs(const struct jval *v, struct attachment *at, struct err *err)
{
	struct jval ips;
	int r = jget_array(v, "ips", JREQUIRED, &ips, err);
	size_t count = r < 0 ? 0 : jarray_len(&ips);

	if (r < 0 || count > PORT_ADDRS_MAX)
		return r < 0 ? r : err_set(err, 0, "%zu addresses", count);
	for (size_t i = 0; i < count; i++) {
		struct jval e = jarray_at(&ips, i);
		const char *text;

		r = jval_string(&e, &text, err);
		if (r < 0 || ipaddr_parse(text, &at->addrs[i]) < 0)
			return err_set(err, 0, "address %zu", i);
	}
	at->addr_count = (uint8_t)count;
	return 0;
}

static int get_host(const struct jval *v, struct attachment *at, struct err *err)
{
	const char *host = "", *alias = "";
	int64_t port = 0, mtu = 0;
	int r = jget_int(v, "port", JREQUIRED, (struct jrange){ATTACH_ID_MIN, PORT_MAX - 1}, &port,
			 err);

	if (r == 0)
		r = jget_int(v, "mtu", JREQUIRED, (struct jrange){1, 65535}, &mtu, err);
	if (r == 0)
		r = jget_mac(v, "mac", JREQUIRED, &at->mac, err);
	if (r == 0)
		r = jget_string(v, "host", JREQUIRED, &host, err);
	if (r == 0)
		r = jget_string(v, "alias", JREQUIRED, &alias, err);
	if (r < 0)
		return r;
	if (strlen(host) >= LINK_NAME_MAX || strlen(alias) >= ATTACH_ALIAS_MAX)
		return err_set(err, 0, "name of the host end");
	snprintf(at->host_name, sizeof(at->host_name), "%s", host);
	snprintf(at->alias, sizeof(at->alias), "%s", alias);
	at->port_id = (uint16_t)port;
	at->ifindex = ATTACH_IFINDEX_BASE + at->port_id;
	at->mtu = (uint32_t)mtu;
	return 0;
}

static int decode(const struct jval *v, struct attachment **ret_at, struct err *err)
{
	struct attach_request rq = {
		.netns = "", .pod_namespace = "", .pod_name = "", .pod_uid = ""};
	struct attachment *at;
	int r = get_key(v, &rq.key, err);

	if (r == 0)
		r = jget_string(v, "netns", JOPTIONAL, &rq.netns, err);
	if (r == 0)
		r = jget_string(v, "pod_namespace", JOPTIONAL, &rq.pod_namespace, err);
	if (r == 0)
		r = jget_string(v, "pod_name", JOPTIONAL, &rq.pod_name, err);
	if (r == 0)
		r = jget_string(v, "pod_uid", JOPTIONAL, &rq.pod_uid, err);
	if (r == 0)
		r = jget_bool(v, "delegated", JOPTIONAL, &rq.delegated, err);
	if (r < 0)
		return r;
	at = attach_new(&rq);
	if (!at)
		return -ENOMEM;
	r = get_state(v, &at->state, err);
	if (r == 0)
		r = get_addrs(v, at, err);
	if (r == 0)
		r = get_host(v, at, err);
	if (r < 0) {
		attach_free(at);
		return r;
	}
	*ret_at = at;
	return 0;
}

// Takes an attachment out of the tables without any effect outside them.
static void forget(struct attach *a, const struct attach_key *key)
{
	struct attachment *at = attach_find(a, key);

	if (!at)
		return;
	for (unsigned i = 0; i < at->addr_count; i++)
		ipam_give(a->ipam, &at->addrs[i], clock_now_ns());
	attach_remove(a, at);
	attach_free(at);
}

static int take_all(struct attach *a, const struct attachment *at, struct err *err)
{
	for (unsigned i = 0; i < at->addr_count; i++) {
		int r = ipam_take_addr(a->ipam, &at->addrs[i], true, at->holder, err);

		if (r < 0) {
			while (i-- > 0)
				ipam_give(a->ipam, &at->addrs[i], clock_now_ns());
			return r;
		}
	}
	return 0;
}

static int replay_set(struct attach *a, const struct jval *v, struct err *err)
{
	struct attachment *at;
	struct attach_key key;
	int r = decode(v, &at, err);

	if (r < 0)
		return r;
	key = (struct attach_key){at->network, at->container_id, at->ifname};
	forget(a, &key);
	if (a->by_id[at->port_id]) {
		r = err_set(err, 0, "port %u of %s", at->port_id, at->holder);
	} else {
		r = take_all(a, at, err);
	}
	if (r == 0) {
		attach_use_id(a, at->port_id);
		r = attach_insert(a, at);
	}
	if (r < 0)
		attach_free(at);
	return r;
}

static int replay_range(struct attach *a, const struct jval *v, struct err *err)
{
	struct ipprefix ranges[IPAM_RANGES_MAX];
	size_t count = ipam_range_count(a->ipam);
	uint64_t next = 0;
	int r;

	if (count == IPAM_RANGES_MAX)
		return err_set(err, 0, "too many ranges");
	for (size_t i = 0; i < count; i++) {
		struct ipam_usage u;

		ipam_usage(a->ipam, i, &u);
		ranges[i] = u.prefix;
	}
	r = jget_ipprefix(v, "prefix", JREQUIRED, &ranges[count], err);
	if (r == 0)
		r = jget_u64(v, "next", JREQUIRED, &next, err);
	if (r == 0)
		r = ipam_set_ranges(a->ipam, ranges, count + 1, err);
	if (r == 0)
		ipam_restore_next(a->ipam, &ranges[count], next);
	return r;
}

static int replay_freed(struct attach *a, const struct jval *freed, struct err *err)
{
	if (jval_type(freed) != JTYPE_ARRAY)
		return err_set(err, 0, "freed is no array");
	for (size_t i = 0; i < jarray_len(freed); i++) {
		struct jval e = jarray_at(freed, i);
		struct ipaddr addr;
		const char *text;
		int r = jval_string(&e, &text, err);

		if (r == 0 && ipaddr_parse(text, &addr) < 0)
			r = err_set(err, 0, "address `%.64s`", text);
		if (r == 0)
			r = ipam_restore_freed(a->ipam, &addr, clock_now_ns());
		if (r < 0)
			return r;
	}
	return 0;
}

static int replay_del(struct attach *a, const struct jval *v, struct err *err)
{
	struct attach_key key;
	int r = get_key(v, &key, err);

	if (r == 0)
		forget(a, &key);
	return r;
}

struct line_kind {
	const char *name;
	int (*replay)(struct attach *a, const struct jval *v, struct err *err);
};

static const struct line_kind line_kinds[] = {
	{"set", replay_set},
	{"del", replay_del},
	{"range", replay_range},
	{"freed", replay_freed},
};

static int replay_doc(struct attach *a, const struct jval *root, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(line_kinds); i++) {
		struct jval v;
		int r = jget(root, line_kinds[i].name, JOPTIONAL, &v, err);

		if (r < 0)
			return r;
		if (!jval_is_null(&v))
			return line_kinds[i].replay(a, &v, err);
	}
	return err_set(err, 0, "line of an unknown kind");
}

int attach_store_replay(const char *text, size_t len, void *arg)
{
	const struct jlimits limits = {.bytes = JOURNAL_LINE_MAX, .depth = DEPTH_MAX};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct attach *a = arg;
	struct err err = ERR_INIT;
	struct jval root;
	int r = jdoc_parse(text, len, &limits, &doc, &err);

	if (r == 0) {
		root = jdoc_root(doc);
		r = replay_doc(a, &root, &err);
	}
	if (r < 0)
		LOG_ERR("journal line is not used", "why=%s", err.text);
	return r;
}
