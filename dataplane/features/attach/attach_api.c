// SPDX-License-Identifier: Apache-2.0
#include "features/attach/attach_api.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "packet/vnet.h"

#define VALID_MAX 4096 // listed attachments of one gc

static int get_key(const struct jval *v, struct attach_key *ret, struct err *err)
{
	int r = jget_string(v, "network", JREQUIRED, &ret->network, err);

	if (r == 0)
		r = jget_string(v, "container_id", JREQUIRED, &ret->container_id, err);
	if (r == 0)
		r = jget_string(v, "ifname", JREQUIRED, &ret->ifname, err);
	return r;
}

static int invalid(struct err *err, int r)
{
	if (r < 0 && err && err->code == 0)
		err->code = ATTACH_CODE_CONFIG;
	return r;
}

static int get_pod(const struct jval *request, struct attach_request *rq, struct err *err)
{
	struct jval pod = {0};
	int r = jget_object(request, "pod", JOPTIONAL, &pod, err);

	if (r < 0 || jval_is_null(&pod))
		return r;
	r = jget_string(&pod, "namespace", JREQUIRED, &rq->pod_namespace, err);
	if (r == 0)
		r = jget_string(&pod, "name", JREQUIRED, &rq->pod_name, err);
	if (r == 0)
		r = jget_string(&pod, "uid", JOPTIONAL, &rq->pod_uid, err);
	if (r < 0)
		return r;
	if (strlen(rq->pod_namespace) > 253 || strlen(rq->pod_name) > 253 ||
	    strlen(rq->pod_uid) > 253)
		return err_set(err, 0, "%s: a name is longer than 253 bytes", pod.path);
	return 0;
}

// The prefix length of an asked-for address says nothing here: pods have host prefixes.
static int get_ips(const struct jval *request, struct ipaddr *out, size_t *ret_count,
		   struct err *err)
{
	struct jval ips = {0};
	int r = jget_array(request, "ips", JOPTIONAL, &ips, err);
	size_t count = r < 0 ? 0 : jarray_len(&ips);

	if (r < 0)
		return r;
	if (count > PORT_ADDRS_MAX)
		return err_set(err, 0, "%s: more than %d addresses", ips.path, PORT_ADDRS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct jval e = jarray_at(&ips, i);
		struct ipprefix p;
		const char *text;

		r = jval_string(&e, &text, err);
		if (r < 0)
			return r;
		if (ipprefix_parse(text, &p) < 0)
			return err_set(err, 0, "%s: `%.64s` is no address", e.path, text);
		out[i] = p.addr;
	}
	*ret_count = count;
	return 0;
}

static int get_mac(const struct jval *request, bool *ret_has, struct macaddr *ret, struct err *err)
{
	struct jval v;
	int r = jget(request, "mac", JOPTIONAL, &v, err);

	*ret_has = r == 0 && !jval_is_null(&v);
	return *ret_has ? jget_mac(request, "mac", JREQUIRED, ret, err) : r;
}

static int decode_attach(const struct jval *request, struct attach_request *rq, struct err *err)
{
	int64_t mtu = 0;
	int r = get_key(request, &rq->key, err);

	if (r == 0)
		r = jget_string(request, "netns", JOPTIONAL, &rq->netns, err);
	if (r == 0)
		r = get_pod(request, rq, err);
	if (r == 0)
		r = get_ips(request, rq->addrs, &rq->addr_count, err);
	if (r == 0)
		r = jget_bool(request, "delegated", JOPTIONAL, &rq->delegated, err);
	if (r == 0)
		r = get_mac(request, &rq->has_mac, &rq->mac, err);
	if (r == 0)
		r = jget_int(request, "mtu", JOPTIONAL, (struct jrange){0, 65535}, &mtu, err);
	rq->mtu = (uint32_t)mtu;
	return r;
}

static void put_addresses(struct jput *j, const struct attachment *at)
{
	jput_array(j, "ips");
	for (unsigned i = 0; i < at->addr_count; i++)
		jput_ipaddr(j, NULL, &at->addrs[i]);
	jput_end(j);
}

static void put_gateways(struct jput *j, const struct attachment *at)
{
	jput_array(j, "gateways");
	for (unsigned i = 0; i < at->addr_count; i++)
		jput_string(j, NULL, ipaddr_is_v4(&at->addrs[i]) ? "169.254.1.1" : "fe80::1");
	jput_end(j);
}

int attach_api_attach(struct attach *a, const struct jval *request, uint64_t owner,
		      struct jput *reply, struct err *err)
{
	struct attach_request rq = {
		.netns = "", .pod_namespace = "", .pod_name = "", .pod_uid = "", .owner = owner};
	const struct attachment *at;
	struct macaddr gateway = attach_gateway_mac(a);
	int r = invalid(err, decode_attach(request, &rq, err));

	if (r == 0)
		r = attach_reserve(a, &rq, &at, err);
	if (r < 0)
		return r;
	put_addresses(reply, at);
	put_gateways(reply, at);
	jput_mac(reply, "mac", &at->mac);
	jput_mac(reply, "gateway_mac", &gateway);
	jput_int(reply, "mtu", at->mtu);
	jput_string(reply, "host_ifname", at->host_name);
	jput_int(reply, "host_ifindex", at->ifindex);
	jput_string(reply, "host_alias", at->alias);
	jput_int(reply, "gso_max_size", ATTACH_GSO_MAX);
	jput_int(reply, "gso_max_segs", VNET_GSO_SEGS_MAX);
	return 0;
}

void attach_api_activated(const struct attachment *at, struct jput *reply)
{
	jput_int(reply, "port", at->port_id);
}

int attach_api_activate(struct attach *a, const struct jval *request,
			const struct attach_api_wait *wait, struct jput *reply, struct err *err)
{
	struct attach_activation act = {
		.owner = wait->owner, .done = wait->done, .done_arg = wait->arg};
	const struct attachment *at;
	int64_t ms = 0;
	int r = get_key(request, &act.key, err);

	if (r == 0)
		r = jget_int(request, "wait_ms", JOPTIONAL, (struct jrange){0, INT32_MAX}, &ms,
			     err);
	if (r < 0)
		return invalid(err, r);
	act.wait_ms = (uint32_t)ms;
	r = attach_activate(a, &act, &at, err);
	if (r == 0)
		attach_api_activated(at, reply);
	return r;
}

int attach_api_detach(struct attach *a, const struct jval *request, struct jput *reply,
		      struct err *err)
{
	struct attach_key key;
	int r = invalid(err, get_key(request, &key, err));

	if (r == 0)
		jput_bool(reply, "found", attach_detach(a, &key) == 0);
	return r;
}

int attach_api_check(struct attach *a, const struct jval *request, struct err *err)
{
	struct attach_check c = {0};
	int r = get_key(request, &c.key, err);

	if (r == 0)
		r = get_ips(request, c.addrs, &c.addr_count, err);
	if (r == 0)
		r = get_mac(request, &c.has_mac, &c.mac, err);
	return r < 0 ? invalid(err, r) : attach_check(a, &c, err);
}

// ---- gc ----

struct gc_arg {
	struct map *valid; // "container_id\nifname"
	struct jput *reply;
};

static void gc_key(const char *container_id, const char *ifname, struct buf *out)
{
	(void)buf_addf(out, "%s\n%s", container_id, ifname);
}

static bool gc_is_valid(const struct attachment *at, void *arg)
{
	_cleanup_(buf_fini) struct buf key = BUF_INIT(4096);
	struct gc_arg *g = arg;

	gc_key(at->container_id, at->ifname, &key);
	return key.data && map_get(g->valid, key.data);
}

static void gc_released(const struct attachment *at, void *arg)
{
	struct gc_arg *g = arg;

	jput_object(g->reply, NULL);
	jput_string(g->reply, "container_id", at->container_id);
	jput_string(g->reply, "ifname", at->ifname);
	jput_end(g->reply);
}

static int get_valid(const struct jval *list, struct map *valid, struct err *err)
{
	if (jarray_len(list) > VALID_MAX)
		return err_set(err, 0, "%s: more than %d entries", list->path, VALID_MAX);
	for (size_t i = 0; i < jarray_len(list); i++) {
		_cleanup_(buf_fini) struct buf key = BUF_INIT(4096);
		struct jval e = jarray_at(list, i);
		const char *id, *ifname;
		int r = jget_string(&e, "container_id", JREQUIRED, &id, err);

		if (r == 0)
			r = jget_string(&e, "ifname", JREQUIRED, &ifname, err);
		if (r < 0)
			return r;
		gc_key(id, ifname, &key);
		if (!key.data)
			return err_set(err, 0, "%s: name too long", e.path);
		if (map_set(valid, key.data, valid) < 0)
			return err_set(err, ENOMEM, "gc");
	}
	return 0;
}

int attach_api_gc(struct attach *a, const struct jval *request, struct jput *reply, struct err *err)
{
	_cleanup_(map_freep) struct map *valid = map_new(NULL);
	struct gc_arg g = {.valid = valid, .reply = reply};
	struct attach_gc gc = {.is_valid = gc_is_valid, .released = gc_released, .arg = &g};
	struct jval list = {0};
	int r;

	if (!valid)
		return err_set_code(err, ATTACH_CODE_IO, ENOMEM, "gc");
	r = jget_string(request, "network", JREQUIRED, &gc.network, err);
	if (r == 0)
		r = jget_array(request, "valid", JOPTIONAL, &list, err);
	if (r == 0)
		r = get_valid(&list, valid, err);
	if (r < 0)
		return invalid(err, r);
	gc.has_list = !jval_is_null(&list);
	jput_array(reply, "released");
	attach_gc(a, &gc);
	jput_end(reply);
	return 0;
}

// ---- rows ----

void attach_api_row(struct jput *j, const char *key, const struct attachment *at,
		    const struct counters_sum *sum)
{
	uint64_t drops = 0;

	for (int i = 0; i < DROP_COUNT; i++)
		drops += sum->drops[i];
	jput_object(j, key);
	jput_string(j, "namespace", at->pod_namespace);
	jput_string(j, "name", at->pod_name);
	jput_string(j, "uid", at->pod_uid);
	jput_string(j, "network", at->network);
	jput_string(j, "container_id", at->container_id);
	jput_string(j, "ifname", at->ifname);
	put_addresses(j, at);
	jput_mac(j, "mac", &at->mac);
	jput_string(j, "state", attach_state_name(at->state));
	jput_int(j, "port", at->port_id);
	jput_int(j, "mtu", at->mtu);
	jput_u64(j, "rx_packets", sum->rx_packets);
	jput_u64(j, "rx_bytes", sum->rx_bytes);
	jput_u64(j, "tx_packets", sum->tx_packets);
	jput_u64(j, "tx_bytes", sum->tx_bytes);
	jput_u64(j, "drops", drops);
	jput_end(j);
}
