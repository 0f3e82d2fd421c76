// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "decode/kinds.h"

static int decode_addresses(const struct jval *status, struct object *obj,
			    const struct decode_notes *notes, struct err *err)
{
	struct jval list = {0};
	int r = jget_array(status, "addresses", JOPTIONAL, &list, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&list); i++) {
		struct jval entry = jarray_at(&list, i), text = {0};
		const char *type = "";

		r = jget_string(&entry, "type", JOPTIONAL, &type, err);
		if (r == 0)
			r = jget(&entry, "address", JOPTIONAL, &text, err);
		if (r == 0 && !strcmp(type, "InternalIP"))
			decode_address(&text, obj, &obj->node.ips, notes);
	}
	return r;
}

// A range pods can live in: has a length, and its network is no multicast, loopback or like
// address.
static int parse_range(const char *text, struct ipprefix *ret_range)
{
	struct ipprefix range;
	int r = strchr(text, '/') ? ipprefix_parse(text, &range) : -1;

	if (r < 0 || range.len == 0)
		return -1;
	range.addr = ipprefix_mask(&range);
	if (!ipaddr_is_unicast(&range.addr))
		return -1;
	*ret_range = range;
	return 0;
}

static bool has_range(const struct node *node, const struct ipprefix *range)
{
	for (size_t i = 0; i < node->pod_cidr_count; i++)
		if (node->pod_cidrs[i].len == range->len &&
		    ipaddr_is_equal(&node->pod_cidrs[i].addr, &range->addr))
			return true;
	return false;
}

static void add_range(const struct jval *value, struct object *obj,
		      const struct decode_notes *notes)
{
	struct node *node = &obj->node;
	struct err err = ERR_INIT;
	struct ipprefix range;
	const char *text = NULL;

	if (jval_string(value, &text, &err) < 0)
		decode_note(notes, obj, "%s", err.text);
	else if (!*text)
		return;
	else if (parse_range(text, &range) < 0)
		decode_note(notes, obj, "%s: `%.64s` is no pod range", value->path, text);
	else if (has_range(node, &range))
		return;
	else if (node->pod_cidr_count == OBJECT_CIDRS_MAX)
		decode_note(notes, obj, "%s: more than %d ranges", value->path, OBJECT_CIDRS_MAX);
	else
		node->pod_cidrs[node->pod_cidr_count++] = range;
}

// spec.podCIDR repeats the first of spec.podCIDRs; old or hand-written objects have it alone.
static int decode_ranges(const struct jval *spec, struct object *obj,
			 const struct decode_notes *notes, struct err *err)
{
	struct jval list = {0}, single = {0};
	int r = jget_array(spec, "podCIDRs", JOPTIONAL, &list, err);

	if (r == 0)
		r = jget(spec, "podCIDR", JOPTIONAL, &single, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < jarray_len(&list); i++) {
		struct jval entry = jarray_at(&list, i);

		add_range(&entry, obj, notes);
	}
	if (jarray_len(&list) == 0 && !jval_is_null(&single))
		add_range(&single, obj, notes);
	return 0;
}

int decode_node(const struct jval *value, struct object *obj, const struct decode_notes *notes,
		struct err *err)
{
	struct jval spec = {0}, status = {0};
	int r = jget_object(value, "spec", JOPTIONAL, &spec, err);

	if (r == 0)
		r = jget_object(value, "status", JOPTIONAL, &status, err);
	if (r == 0 && !jval_is_null(&spec))
		r = decode_ranges(&spec, obj, notes, err);
	if (r == 0 && !jval_is_null(&status))
		r = decode_addresses(&status, obj, notes, err);
	return r;
}
