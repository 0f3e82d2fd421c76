// SPDX-License-Identifier: Apache-2.0
// The Kubernetes objects the agent knows, as plain data: what a source decodes and the compiler
// reads.
//
//	_cleanup_(object_unrefp) struct object *obj = object_new(OBJECT_POD);
//	obj->meta.name = strdup("web");
//	store_set(store, obj);
//
// An object is filled by its decoder and treated as constant once it was handed to a sink; it is
// shared by reference count (source, store). Strings are owned by the object and never NULL in a
// decoded one. No I/O, no clock. One thread.
//
// A new kind takes: a value here, a struct in the union, its fini and equality in object.c, a
// decoder in decode/ and a compiler in compile/.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/ipaddr.h"

enum object_kind { OBJECT_NODE, OBJECT_NAMESPACE, OBJECT_POD, OBJECT_KIND_COUNT };

#define OBJECT_KEY_MAX 400 // bytes: kind, namespace, name and separators

struct object_label {
	char *key, *value;
};

struct object_meta {
	char *namespace; // "" for kinds without one
	char *name;
	char *uid;                   // "" where the source has none
	struct object_label *labels; // sorted by key, keys are unique
	size_t label_count;
};

#define OBJECT_IPS_MAX 8
#define OBJECT_CIDRS_MAX 8

struct object_ips {
	struct ipaddr at[OBJECT_IPS_MAX]; // in the order of the object, no duplicates
	size_t count;
};

struct node {
	struct object_ips ips; // InternalIP only
	struct ipprefix pod_cidrs[OBJECT_CIDRS_MAX];
	size_t pod_cidr_count;
};

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

struct pod {
	char *node; // "" until scheduled
	enum pod_phase phase;
	bool host_network;
	struct object_ips ips; // may be empty: a local pod's addresses come from its attachment
};

struct object {
	enum object_kind kind;
	unsigned refs;
	struct object_meta meta;
	union {
		struct node node;
		struct pod pod;
	};
};

// Zeroed object with one reference, or NULL when memory is short.
struct object *object_new(enum object_kind kind);
struct object *object_ref(struct object *obj);
// Drops one reference and frees the last. NULL is nothing; half-filled objects are fine.
void object_unref(struct object *obj);
void object_unrefp(struct object **obj);
// Same kind, names and content (uid and labels included).
bool object_is_equal(const struct object *a, const struct object *b);

// "node", "namespace", "pod": the word used on weftd's socket and in texts.
const char *object_kind_name(enum object_kind kind);
// "Pending", ...
const char *pod_phase_name(enum pod_phase phase);
// 0 or -EINVAL for a text that is no phase.
int pod_phase_parse(const char *text, enum pod_phase *ret_phase);

// "pod/NAMESPACE/NAME" or "node/NAME" into out, cut when the names were not checked. Returns out.
const char *object_key(const struct object *obj, char out[OBJECT_KEY_MAX]);
// Adds an address; false when it is there already or the list is full.
bool object_ips_add(struct object_ips *ips, const struct ipaddr *addr);
