// SPDX-License-Identifier: Apache-2.0
// One YAML document as a flat array of nodes, between libyaml's events (source/yaml.c) and JSON.
//
// A collection is followed by its members: for a mapping key, value, key, value. `next` is the
// index behind the node and all it contains, so that siblings are found without pointers; an alias
// holds the index of the node it repeats, which always lies before it and is complete. One owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "json/jget.h"

enum yaml_node_type {
	YAML_NODE_PLAIN,
	YAML_NODE_TEXT,
	YAML_NODE_LIST,
	YAML_NODE_MAP,
	YAML_NODE_ALIAS
};

struct yaml_node {
	char *text; // PLAIN and TEXT, owned
	uint32_t next;
	uint32_t target;       // ALIAS
	uint32_t line, column; // from 1
	uint8_t type;          // enum yaml_node_type
};

struct yaml_nodes {
	struct yaml_node *at;
	size_t count, cap;
};

// Appends a node whose next is its own end; takes text. The index, -E2BIG beyond YAML_NODES_MAX, or
// -ENOMEM; text is freed on failure.
int yaml_nodes_add(struct yaml_nodes *nodes, const struct yaml_node *node);
// Frees the texts; keeps the array for the next document.
void yaml_nodes_reset(struct yaml_nodes *nodes);
void yaml_nodes_fini(struct yaml_nodes *nodes);
// The JSON document of node 0. 0, -EINVAL with "LINE:COLUMN: reason", or -ENOMEM.
int yaml_nodes_to_json(const struct yaml_nodes *nodes, struct jdoc **ret_doc, struct err *err);
