// SPDX-License-Identifier: Apache-2.0
#include "features/node/node_api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NAME_LEN_MAX 253 // bytes, DNS subdomain

static void node_freep(struct node **n)
{
	node_free(*n);
}

static int get_list(const struct jval *op, const char *key, size_t max, struct jval *ret,
		    struct err *err)
{
	int r = jget_array(op, key, JREQUIRED, ret, err);

	if (r < 0)
		return r;
	if (jarray_len(ret) > max)
		return err_set(err, 0, "%s: more than %zu entries", ret->path, max);
	return 0;
}

static int get_ips(const struct jval *op, struct node *n, struct err *err)
{
	struct jval ips;
	int r = get_list(op, "ips", NODE_IPS_MAX, &ips, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&ips); i++) {
		struct jval e = jarray_at(&ips, i);
		const char *text;

		r = jval_string(&e, &text, err);
		if (r == 0 &&
		    (ipaddr_parse(text, &n->ips[i]) < 0 || !ipaddr_is_unicast(&n->ips[i])))
			r = err_set(err, 0, "%s: `%.64s` is no node's address", e.path, text);
		n->ip_count = i + 1;
	}
	return r;
}

static int get_cidrs(const struct jval *op, struct node *n, struct err *err)
{
	struct jval cidrs;
	int r = get_list(op, "pod_cidrs", NODE_CIDRS_MAX, &cidrs, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&cidrs); i++) {
		struct jval e = jarray_at(&cidrs, i);
		const char *text;

		r = jval_string(&e, &text, err);
		if (r == 0 && ipprefix_parse(text, &n->cidrs[i]) < 0)
			r = err_set(err, 0, "%s: `%.64s` is no range", e.path, text);
		n->cidrs[i].addr = ipprefix_mask(&n->cidrs[i]);
		n->cidr_count = i + 1;
	}
	return r;
}

int node_api_decode(const struct jval *op, struct node **ret_node, struct err *err)
{
	_cleanup_(node_freep) struct node *n = calloc(1, sizeof(*n));
	const char *name;
	int r;

	if (!n)
		return err_set(err, ENOMEM, "node");
	r = jget_string(op, "name", JREQUIRED, &name, err);
	if (r < 0)
		return r;
	if (name[0] == '\0' || strlen(name) > NAME_LEN_MAX)
		return err_set(err, 0, "%s.name: not 1..%d bytes long", op->path, NAME_LEN_MAX);
	n->name = strdup(name);
	if (!n->name)
		return err_set(err, ENOMEM, "node");
	r = jget_bool(op, "self", JOPTIONAL, &n->self, err);
	if (r == 0)
		r = get_ips(op, n, err);
	if (r == 0)
		r = get_cidrs(op, n, err);
	if (r == 0)
		*ret_node = TAKE_PTR(n);
	return r;
}

void node_api_row(struct jput *j, const struct node *n, uint32_t mtu)
{
	jput_object(j, NULL);
	jput_string(j, "name", n->name);
	if (n->ip_count > 0)
		jput_ipaddr(j, "node_ip", &n->ips[0]);
	else
		jput_null(j, "node_ip");
	jput_array(j, "node_ips");
	for (size_t i = 0; i < n->ip_count; i++)
		jput_ipaddr(j, NULL, &n->ips[i]);
	jput_end(j);
	jput_array(j, "pod_cidrs");
	for (size_t i = 0; i < n->cidr_count; i++)
		jput_ipprefix(j, NULL, &n->cidrs[i]);
	jput_end(j);
	jput_string(j, "route", n->self ? "local" : "none");
	jput_int(j, "mtu", mtu);
	jput_end(j);
}
