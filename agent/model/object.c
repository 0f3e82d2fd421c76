// SPDX-License-Identifier: Apache-2.0
#include "model/object.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[OBJECT_KIND_COUNT] = {
	[OBJECT_NODE] = "node",
	[OBJECT_NAMESPACE] = "namespace",
	[OBJECT_POD] = "pod",
};

static const char *const phase_names[] = {
	[POD_PENDING] = "Pending", [POD_RUNNING] = "Running", [POD_SUCCEEDED] = "Succeeded",
	[POD_FAILED] = "Failed",   [POD_UNKNOWN] = "Unknown",
};

struct object *object_new(enum object_kind kind)
{
	struct object *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->kind = kind;
	obj->refs = 1;
	return obj;
}

struct object *object_ref(struct object *obj)
{
	assert(obj && obj->refs > 0);
	obj->refs++;
	return obj;
}

static void meta_fini(struct object_meta *meta)
{
	for (size_t i = 0; i < meta->label_count; i++) {
		free(meta->labels[i].key);
		free(meta->labels[i].value);
	}
	free(meta->labels);
	free(meta->namespace);
	free(meta->name);
	free(meta->uid);
}

void object_unref(struct object *obj)
{
	if (!obj || --obj->refs > 0)
		return;
	meta_fini(&obj->meta);
	if (obj->kind == OBJECT_POD)
		free(obj->pod.node);
	free(obj);
}

void object_unrefp(struct object **obj)
{
	object_unref(*obj);
}

static bool ips_is_equal(const struct object_ips *a, const struct object_ips *b)
{
	return a->count == b->count && !memcmp(a->at, b->at, a->count * sizeof(a->at[0]));
}

static bool meta_is_equal(const struct object_meta *a, const struct object_meta *b)
{
	if (strcmp(a->namespace, b->namespace) || strcmp(a->name, b->name) ||
	    strcmp(a->uid, b->uid) || a->label_count != b->label_count)
		return false;
	for (size_t i = 0; i < a->label_count; i++)
		if (strcmp(a->labels[i].key, b->labels[i].key) ||
		    strcmp(a->labels[i].value, b->labels[i].value))
			return false;
	return true;
}

static bool node_is_equal(const struct node *a, const struct node *b)
{
	if (!ips_is_equal(&a->ips, &b->ips) || a->pod_cidr_count != b->pod_cidr_count)
		return false;
	for (size_t i = 0; i < a->pod_cidr_count; i++)
		if (a->pod_cidrs[i].len != b->pod_cidrs[i].len ||
		    !ipaddr_is_equal(&a->pod_cidrs[i].addr, &b->pod_cidrs[i].addr))
			return false;
	return true;
}

static bool pod_is_equal(const struct pod *a, const struct pod *b)
{
	return !strcmp(a->node, b->node) && a->phase == b->phase &&
	       a->host_network == b->host_network && ips_is_equal(&a->ips, &b->ips);
}

bool object_is_equal(const struct object *a, const struct object *b)
{
	if (a->kind != b->kind || !meta_is_equal(&a->meta, &b->meta))
		return false;
	switch (a->kind) {
	case OBJECT_NODE:
		return node_is_equal(&a->node, &b->node);
	case OBJECT_POD:
		return pod_is_equal(&a->pod, &b->pod);
	case OBJECT_NAMESPACE:
	case OBJECT_KIND_COUNT:
		break;
	}
	return true;
}

const char *object_kind_name(enum object_kind kind)
{
	assert(kind < OBJECT_KIND_COUNT);
	return kind_names[kind];
}

const char *pod_phase_name(enum pod_phase phase)
{
	assert(phase < ARRAY_LEN(phase_names));
	return phase_names[phase];
}

int pod_phase_parse(const char *text, enum pod_phase *ret_phase)
{
	for (size_t i = 0; i < ARRAY_LEN(phase_names); i++) {
		if (!strcmp(text, phase_names[i])) {
			*ret_phase = (enum pod_phase)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *object_key(const struct object *obj, char out[OBJECT_KEY_MAX])
{
	const char *ns = obj->meta.namespace;

	(void)snprintf(out, OBJECT_KEY_MAX, "%s/%s%s%s", object_kind_name(obj->kind), ns,
		       *ns ? "/" : "", obj->meta.name);
	return out;
}

bool object_ips_add(struct object_ips *ips, const struct ipaddr *addr)
{
	for (size_t i = 0; i < ips->count; i++)
		if (ipaddr_is_equal(&ips->at[i], addr))
			return false;
	if (ips->count == OBJECT_IPS_MAX)
		return false;
	ips->at[ips->count++] = *addr;
	return true;
}
