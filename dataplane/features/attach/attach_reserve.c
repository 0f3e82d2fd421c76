// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "features/attach/attach_internal.h"
#include "flow/flow.h"

#define MTU_MIN_V4 576
#define MTU_MIN_V6 1280
#define MTU_MAX 65535
#define MAC_GROUP 0x01 // bit of the first byte

LOG_MODULE("attach");

static bool has_family(const struct attachment *at, bool v4)
{
	for (unsigned i = 0; i < at->addr_count; i++)
		if (ipaddr_is_v4(&at->addrs[i]) == v4)
			return true;
	return false;
}

// addrs is IPv4 first, whatever the order of the request.
static void push_addr(struct attachment *at, const struct ipaddr *addr)
{
	unsigned i = at->addr_count++;

	for (; ipaddr_is_v4(addr) && i > 0 && !ipaddr_is_v4(&at->addrs[i - 1]); i--)
		at->addrs[i] = at->addrs[i - 1];
	at->addrs[i] = *addr;
}

// No pod holds it, yet packets to it go somewhere: it is the node's own, or the gateway's. An IPAM
// plugin knows nothing of these.
static int check_free(const struct ipaddr *addr, struct err *err)
{
	char text[IPADDR_TEXT_MAX];

	if (!flow_has_addr(addr))
		return 0;
	return err_set_code(err, ATTACH_CODE_NO_ADDRESS, 0,
			    "%s is an address of the node or of its gateway",
			    ipaddr_format(addr, text));
}

static int take_asked(struct attach *a, const struct attach_request *rq, struct attachment *at,
		      struct err *err)
{
	for (size_t i = 0; i < rq->addr_count; i++) {
		int r = ipam_take_addr(a->ipam, &rq->addrs[i], rq->delegated, at->holder, err);

		if (r < 0)
			return r;
		push_addr(at, &rq->addrs[i]);
		r = check_free(&rq->addrs[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_family(struct attach *a, struct attachment *at, bool v4, struct err *err)
{
	struct ipaddr addr;
	int r;

	if (has_family(at, v4) || !ipam_has_family(a->ipam, v4))
		return 0;
	if (at->addr_count == PORT_ADDRS_MAX)
		return 0;
	r = ipam_take(a->ipam, v4, at->holder, clock_now_ns(), &addr, err);
	if (r == 0)
		push_addr(at, &addr);
	return r;
}

static void give_addresses(struct attach *a, struct attachment *at)
{
	for (unsigned i = 0; i < at->addr_count; i++)
		ipam_give(a->ipam, &at->addrs[i], clock_now_ns());
	at->addr_count = 0;
}

static int take_addresses(struct attach *a, const struct attach_request *rq, struct attachment *at,
			  struct err *err)
{
	int r = take_asked(a, rq, at, err);

	if (r == 0 && !rq->delegated)
		r = take_family(a, at, true, err);
	if (r == 0 && !rq->delegated)
		r = take_family(a, at, false, err);
	if (r == 0 && at->addr_count == 0)
		r = err_set_code(err, ATTACH_CODE_NO_ADDRESS, 0, "%s",
				 rq->delegated ? "the IPAM plugin gave no address"
					       : "the node has no pod range yet");
	if (r < 0)
		give_addresses(a, at);
	return r;
}

static int check_mtu(const struct attachment *at, struct err *err)
{
	uint32_t min = has_family(at, false) ? MTU_MIN_V6 : MTU_MIN_V4;

	if (at->mtu >= min && at->mtu <= MTU_MAX)
		return 0;
	return err_set_code(err, ATTACH_CODE_CONFIG, 0, "mtu %u is not within %u..%u", at->mtu, min,
			    MTU_MAX);
}

int attach_check_mac(const struct attach *a, const struct macaddr *mac, struct err *err)
{
	static const struct macaddr zero;
	char text[MACADDR_TEXT_MAX];

	if (!(mac->b[0] & MAC_GROUP) && memcmp(mac, &zero, sizeof(zero)) != 0 &&
	    memcmp(mac, &a->conf.gateway_mac, sizeof(zero)) != 0)
		return 0;
	return err_set_code(err, ATTACH_CODE_CONFIG, 0, "mac %s can be no pod's",
			    macaddr_format(mac, text));
}

// Locally administered, and readable: 0a:77 and the IPv4 address, or bytes of the alias' hash.
static void choose_mac(struct attachment *at)
{
	uint8_t b[6] = {0x0a, 0x77};

	if (has_family(at, true)) {
		memcpy(b + 2, at->addrs[0].b + 12, 4);
	} else {
		const char *hex = at->alias + strlen(ATTACH_HOST_PREFIX);

		for (int i = 0; i < 4; i++) {
			unsigned v = 0;

			(void)!sscanf(hex + i * 2, "%2x", &v);
			b[2 + i] = (uint8_t)v;
		}
	}
	memcpy(at->mac.b, b, sizeof(b));
}

static bool is_name_valid(const char *s, size_t max)
{
	size_t len = strlen(s);

	return len > 0 && len <= max && s[0] != '.' && !strchr(s, '/');
}

static int check_key(const struct attach_key *key, struct err *err)
{
	if (!is_name_valid(key->container_id, 1024))
		return err_set_code(err, 4, 0, "container_id `%.64s` is not valid",
				    key->container_id);
	if (!is_name_valid(key->ifname, LINK_NAME_MAX - 1) || strpbrk(key->ifname, ": "))
		return err_set_code(err, 4, 0, "ifname `%.64s` is not valid", key->ifname);
	if (!is_name_valid(key->network, 1024))
		return err_set_code(err, ATTACH_CODE_CONFIG, 0, "network `%.64s` is not valid",
				    key->network);
	return 0;
}

// What stands in the way: an attachment of the same key. One whose host end is gone is released.
static int clear_former(struct attach *a, const struct attach_key *key, struct err *err)
{
	struct attachment *at = attach_find(a, key);
	int r;

	if (!at)
		return 0;
	if (at->state == ATTACH_RESERVED || at->state == ATTACH_WAITING)
		return err_set_code(err, ATTACH_CODE_RETRY, 0, "another ADD of %s is under way",
				    at->holder);
	r = at->state == ATTACH_GONE ? LINK_NOT_FOUND : attach_link_find(a, at, err);
	if (r < 0)
		return r;
	if (r == 0)
		return err_set_code(err, ATTACH_CODE_EXISTS, 0, "%s is attached already",
				    at->holder);
	attach_release(a, at);
	return 0;
}

// Everything about at but its place in the tables.
static int prepare(struct attach *a, const struct attach_request *rq, struct attachment *at,
		   struct err *err)
{
	int r;

	at->mtu = rq->mtu ? rq->mtu : a->mtu;
	at->state = ATTACH_RESERVED;
	at->deadline_ns = clock_now_ns() + ATTACH_RESERVED_NS;
	r = attach_link_name(a, at, err);
	if (r == 0)
		r = check_mtu(at, err);
	if (r < 0)
		return r;
	if (!rq->has_mac)
		choose_mac(at);
	r = attach_take_id(a, &at->port_id, err);
	if (r < 0)
		return r;
	at->ifindex = ATTACH_IFINDEX_BASE + at->port_id;
	return 0;
}

static int enter(struct attach *a, struct attachment *at, struct err *err)
{
	int r = attach_insert(a, at);

	if (r < 0) {
		attach_give_id(a, at->port_id);
		give_addresses(a, at);
		attach_free(at);
		return err_set_code(err, ATTACH_CODE_IO, -r, "attachment");
	}
	// Not synced: power loss ends the pods too, and a crash of the daemon alone loses no write.
	r = attach_store_set(a, at, false, err);
	if (r < 0) {
		attach_release(a, at);
		return r;
	}
	a->conf.ops->changed(a->conf.ops_arg, ATTACH_ADDED, at);
	return 0;
}

int attach_reserve(struct attach *a, const struct attach_request *rq,
		   const struct attachment **ret_at, struct err *err)
{
	struct attachment *at;
	int r = check_key(&rq->key, err);

	if (r == 0 && rq->has_mac)
		r = attach_check_mac(a, &rq->mac, err);
	if (r == 0)
		r = clear_former(a, &rq->key, err);
	if (r < 0)
		return r;
	at = attach_new(rq);
	if (!at)
		return err_set_code(err, ATTACH_CODE_IO, ENOMEM, "attachment");
	r = take_addresses(a, rq, at, err);
	if (r == 0) {
		r = prepare(a, rq, at, err);
		if (r < 0)
			give_addresses(a, at);
	}
	if (r < 0) {
		attach_free(at);
		return r;
	}
	r = enter(a, at, err);
	if (r == 0)
		*ret_at = at;
	return r;
}
