// SPDX-License-Identifier: Apache-2.0
#include "source/yaml_node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "json/jput.h"
#include "source/scalar.h"
#include "source/yaml.h"

struct emitter {
	const struct yaml_nodes *nodes;
	struct jput *out;
	struct err *err;
	size_t nodes_left, bytes_left; // what aliases may still expand to
	unsigned depth;
};

int yaml_nodes_add(struct yaml_nodes *nodes, const struct yaml_node *node)
{
	struct yaml_node *at = nodes->at;
	size_t cap = nodes->cap;

	if (nodes->count == YAML_NODES_MAX) {
		free(node->text);
		return -E2BIG;
	}
	if (nodes->count == cap) {
		cap = cap ? cap * 2 : 64;
		at = reallocarray(nodes->at, cap, sizeof(*at));
		if (!at) {
			free(node->text);
			return -ENOMEM;
		}
		nodes->at = at;
		nodes->cap = cap;
	}
	at[nodes->count] = *node;
	at[nodes->count].next = (uint32_t)nodes->count + 1;
	return (int)nodes->count++;
}

void yaml_nodes_reset(struct yaml_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++)
		free(nodes->at[i].text);
	nodes->count = 0;
}

void yaml_nodes_fini(struct yaml_nodes *nodes)
{
	yaml_nodes_reset(nodes);
	free(nodes->at);
	*nodes = (struct yaml_nodes){0};
}

static int refuse(const struct emitter *e, const struct yaml_node *node, const char *why)
{
	return err_set(e->err, 0, "%u:%u: %s", node->line, node->column, why);
}

static void emit_plain(struct emitter *e, const char *key, const char *text)
{
	struct scalar s = scalar_resolve(text);

	switch (s.type) {
	case SCALAR_NULL:
		jput_null(e->out, key);
		break;
	case SCALAR_BOOL:
		jput_bool(e->out, key, s.boolean);
		break;
	case SCALAR_INT:
		jput_int(e->out, key, s.integer);
		break;
	case SCALAR_UINT:
		jput_u64(e->out, key, s.natural);
		break;
	case SCALAR_FLOAT:
		jput_double(e->out, key, s.real);
		break;
	case SCALAR_STRING:
		jput_string(e->out, key, text);
		break;
	}
}

// Charges one node. Aliases make this the bound for "billion laughs" documents.
static int charge(struct emitter *e, const struct yaml_node *node)
{
	size_t bytes = node->text ? strlen(node->text) : 0;

	if (e->nodes_left == 0 || e->bytes_left < bytes)
		return refuse(e, node, "the document is too large once its aliases are put in");
	e->nodes_left--;
	e->bytes_left -= bytes;
	return 0;
}

static int emit(struct emitter *e, const char *key, const struct yaml_node *node);

static const struct yaml_node *node_at(const struct emitter *e, size_t i)
{
	const struct yaml_node *node = &e->nodes->at[i];

	// An alias to an alias is made an alias to the node behind it when it is read.
	return node->type == YAML_NODE_ALIAS ? &e->nodes->at[node->target] : node;
}

static size_t index_of(const struct emitter *e, const struct yaml_node *node)
{
	return (size_t)(node - e->nodes->at);
}

static int emit_key(struct emitter *e, struct map *seen, size_t i, const char **ret_key)
{
	const struct yaml_node *node = node_at(e, i), *place = &e->nodes->at[i];
	int r = charge(e, node);

	if (r < 0)
		return r;
	if (!node->text)
		return refuse(e, place, "a key must be a scalar");
	if (node->type == YAML_NODE_PLAIN && !strcmp(node->text, "<<"))
		return refuse(e, place, "merge keys (<<) are not supported");
	if (map_get(seen, node->text))
		return err_set(e->err, 0, "%u:%u: key `%.64s` stands twice", place->line,
			       place->column, node->text);
	if (map_set(seen, node->text, e->out) < 0)
		return err_set(e->err, ENOMEM, "read YAML");
	*ret_key = node->text;
	return 0;
}

static int emit_map(struct emitter *e, const struct yaml_node *node)
{
	_cleanup_(map_freep) struct map *seen = map_new(NULL);
	const char *key = NULL;
	int r;

	if (!seen)
		return err_set(e->err, ENOMEM, "read YAML");
	for (size_t i = index_of(e, node) + 1; i < node->next;) {
		size_t value = e->nodes->at[i].next;

		r = emit_key(e, seen, i, &key);
		if (r == 0)
			r = emit(e, key, &e->nodes->at[value]);
		if (r < 0)
			return r;
		i = e->nodes->at[value].next;
	}
	return 0;
}

static int emit_list(struct emitter *e, const struct yaml_node *node)
{
	int r;

	for (size_t i = index_of(e, node) + 1; i < node->next; i = e->nodes->at[i].next) {
		r = emit(e, NULL, &e->nodes->at[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int emit_collection(struct emitter *e, const char *key, const struct yaml_node *node)
{
	int r;

	if (e->depth == YAML_DEPTH_MAX)
		return refuse(e, node, "nested too deeply");
	e->depth++;
	if (node->type == YAML_NODE_MAP) {
		jput_object(e->out, key);
		r = emit_map(e, node);
	} else {
		jput_array(e->out, key);
		r = emit_list(e, node);
	}
	jput_end(e->out);
	e->depth--;
	return r;
}

static int emit(struct emitter *e, const char *key, const struct yaml_node *node)
{
	int r;

	node = node_at(e, index_of(e, node));
	r = charge(e, node);
	if (r < 0)
		return r;
	switch ((enum yaml_node_type)node->type) {
	case YAML_NODE_PLAIN:
		emit_plain(e, key, node->text);
		return 0;
	case YAML_NODE_TEXT:
		jput_string(e->out, key, node->text);
		return 0;
	case YAML_NODE_LIST:
	case YAML_NODE_MAP:
		return emit_collection(e, key, node);
	case YAML_NODE_ALIAS:
		break;
	}
	return refuse(e, node, "alias to an alias");
}

int yaml_nodes_to_json(const struct yaml_nodes *nodes, struct jdoc **ret_doc, struct err *err)
{
	_cleanup_(jput_freep) struct jput *out = jput_new();
	struct emitter e = {.nodes = nodes,
			    .out = out,
			    .err = err,
			    .nodes_left = YAML_NODES_MAX,
			    .bytes_left = YAML_EXPANDED_MAX};
	struct jdoc *doc;
	int r;

	if (!out)
		return err_set(err, ENOMEM, "read YAML");
	r = emit(&e, NULL, &nodes->at[0]);
	if (r < 0)
		return r;
	doc = jput_take_doc(out);
	if (!doc)
		return err_set(err, ENOMEM, "read YAML");
	*ret_doc = doc;
	return 0;
}
