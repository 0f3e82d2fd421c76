// SPDX-License-Identifier: Apache-2.0
#include "source/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "source/yaml_node.h"

#define CORE_TAG "tag:yaml.org,2002:"

struct loader {
	yaml_parser_t parser;
	struct yaml_nodes nodes;
	struct map *anchors; // name -> index + 1 of a complete node
	struct err *err;
	struct {
		uint32_t node;
		char *anchor; // owned; registered when the node is complete
	} open[YAML_DEPTH_MAX];
	unsigned depth;
};

static void event_fini(yaml_event_t *event)
{
	yaml_event_delete(event);
}

static struct yaml_place place_of(yaml_mark_t mark)
{
	return (struct yaml_place){.line = mark.line + 1, .column = mark.column + 1};
}

static int refuse(struct loader *l, yaml_mark_t mark, const char *why, const char *what)
{
	struct yaml_place at = place_of(mark);

	return err_set(l->err, 0, "%zu:%zu: %s%s%.64s%s", at.line, at.column, why, what ? " `" : "",
		       what ? what : "", what ? "`" : "");
}

static int syntax_error(struct loader *l)
{
	const yaml_parser_t *p = &l->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return err_set(l->err, ENOMEM, "read YAML");
	// The reader knows only an offset; its line is that of the text read so far.
	if (p->error == YAML_READER_ERROR)
		return refuse(l, p->mark, p->problem ? p->problem : "unreadable text", NULL);
	return refuse(l, p->problem_mark, p->problem ? p->problem : "syntax error", NULL);
}

static int next_event(struct loader *l, yaml_event_t *event)
{
	return yaml_parser_parse(&l->parser, event) ? 0 : syntax_error(l);
}

static int set_anchor(struct loader *l, const char *anchor, uint32_t node)
{
	if (anchor && map_set(l->anchors, anchor, (void *)(uintptr_t)(node + 1)) < 0)
		return err_set(l->err, ENOMEM, "read YAML");
	return 0;
}

static int add_node(struct loader *l, const yaml_event_t *event, struct yaml_node node)
{
	struct yaml_place at = place_of(event->start_mark);
	int r;

	node.line = (uint32_t)at.line;
	node.column = (uint32_t)at.column;
	r = yaml_nodes_add(&l->nodes, &node);
	if (r == -E2BIG)
		return refuse(l, event->start_mark, "the document has too many values", NULL);
	return r < 0 ? err_set(l->err, -r, "read YAML") : r;
}

// Type of a scalar by its tag and style; negative for a tag that means nothing to JSON.
static int scalar_type(const yaml_event_t *event)
{
	const char *tag = (const char *)event->data.scalar.tag;
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

	if (!tag)
		return plain ? YAML_NODE_PLAIN : YAML_NODE_TEXT;
	if (!strcmp(tag, "!") || !strcmp(tag, CORE_TAG "str"))
		return YAML_NODE_TEXT;
	if (!strcmp(tag, CORE_TAG "int") || !strcmp(tag, CORE_TAG "bool") ||
	    !strcmp(tag, CORE_TAG "null") || !strcmp(tag, CORE_TAG "float"))
		return YAML_NODE_PLAIN;
	return -EINVAL;
}

static int on_scalar(struct loader *l, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	int type = scalar_type(event), r;
	char *copy;

	if (type < 0)
		return refuse(l, event->start_mark, "unsupported tag",
			      (const char *)event->data.scalar.tag);
	if (memchr(text, '\0', len))
		return refuse(l, event->start_mark, "a NUL character is not allowed", NULL);
	copy = strndup(text, len);
	if (!copy)
		return err_set(l->err, ENOMEM, "read YAML");
	r = add_node(l, event, (struct yaml_node){.type = (uint8_t)type, .text = copy});
	return r < 0 ? r : set_anchor(l, (const char *)event->data.scalar.anchor, (uint32_t)r);
}

static int on_alias(struct loader *l, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	uintptr_t found = (uintptr_t)map_get(l->anchors, name);
	int r;

	if (!found)
		return refuse(l, event->start_mark, "unknown or unfinished anchor", name);
	r = add_node(l, event,
		     (struct yaml_node){.type = YAML_NODE_ALIAS, .target = (uint32_t)found - 1});
	return r < 0 ? r : 0;
}

static int on_start(struct loader *l, const yaml_event_t *event)
{
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	const char *tag = (const char *)(is_map ? event->data.mapping_start.tag
						: event->data.sequence_start.tag);
	const char *anchor = (const char *)(is_map ? event->data.mapping_start.anchor
						   : event->data.sequence_start.anchor);
	int r;

	if (tag && strcmp(tag, "!") != 0 &&
	    strcmp(tag, is_map ? CORE_TAG "map" : CORE_TAG "seq") != 0)
		return refuse(l, event->start_mark, "unsupported tag", tag);
	if (l->depth == YAML_DEPTH_MAX)
		return refuse(l, event->start_mark, "nested too deeply", NULL);
	r = add_node(l, event, (struct yaml_node){.type = is_map ? YAML_NODE_MAP : YAML_NODE_LIST});
	if (r < 0)
		return r;
	l->open[l->depth].node = (uint32_t)r;
	l->open[l->depth].anchor = anchor ? strdup(anchor) : NULL;
	if (anchor && !l->open[l->depth].anchor)
		return err_set(l->err, ENOMEM, "read YAML");
	l->depth++;
	return 0;
}

static int on_end(struct loader *l)
{
	uint32_t node = l->open[--l->depth].node;
	_free_ char *anchor = TAKE_PTR(l->open[l->depth].anchor);

	l->nodes.at[node].next = (uint32_t)l->nodes.count;
	return set_anchor(l, anchor, node);
}

static int on_event(struct loader *l, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(l, event);
	case YAML_ALIAS_EVENT:
		return on_alias(l, event);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return on_start(l, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(l);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

static void forget_open(struct loader *l)
{
	while (l->depth > 0)
		free(l->open[--l->depth].anchor);
}

// Reads the events of one document into the node array.
static int read_document(struct loader *l)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	int r = 0;

	yaml_nodes_reset(&l->nodes);
	map_free(l->anchors);
	l->anchors = map_new(NULL);
	if (!l->anchors)
		return err_set(l->err, ENOMEM, "read YAML");
	while (r == 0 && type != YAML_DOCUMENT_END_EVENT) {
		_cleanup_(event_fini) yaml_event_t event = {0};

		r = next_event(l, &event);
		type = event.type;
		if (r == 0)
			r = on_event(l, &event);
	}
	return r;
}

static int hand_over(struct loader *l, yaml_doc_fn fn, void *arg)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct yaml_place at;
	struct jval root;
	int r;

	if (l->nodes.count == 0)
		return 0;
	at = (struct yaml_place){l->nodes.at[0].line, l->nodes.at[0].column};
	r = yaml_nodes_to_json(&l->nodes, &doc, l->err);
	if (r < 0)
		return r;
	root = jdoc_root(doc);
	return jval_is_null(&root) ? 0 : fn(arg, &root, at, l->err);
}

static int load_documents(struct loader *l, yaml_doc_fn fn, void *arg)
{
	for (;;) {
		_cleanup_(event_fini) yaml_event_t event = {0};
		int r = next_event(l, &event);

		if (r < 0 || event.type == YAML_STREAM_END_EVENT)
			return r;
		if (event.type != YAML_DOCUMENT_START_EVENT)
			continue;
		r = read_document(l);
		if (r == 0)
			r = hand_over(l, fn, arg);
		if (r < 0)
			return r;
	}
}

static int load_yaml(const char *text, size_t len, yaml_doc_fn fn, void *arg, struct err *err)
{
	struct loader l = {.err = err};
	int r;

	if (!yaml_parser_initialize(&l.parser))
		return err_set(err, ENOMEM, "read YAML");
	yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&l.parser, (const unsigned char *)text, len);
	r = load_documents(&l, fn, arg);
	forget_open(&l);
	map_free(l.anchors);
	yaml_nodes_fini(&l.nodes);
	yaml_parser_delete(&l.parser);
	return r;
}

// JSON proper, which knows surrogate pairs that libyaml refuses. NULL: let the YAML reader decide,
// it also finds the place of an error.
static struct jdoc *parse_json(const char *text, size_t len, size_t start)
{
	struct jlimits limits = {.bytes = YAML_BYTES_MAX, .depth = YAML_DEPTH_MAX};
	struct jdoc *doc = NULL;

	if (start == len || text[start] != '{' || jdoc_parse(text, len, &limits, &doc, NULL) < 0)
		return NULL;
	return doc;
}

int yaml_load(const char *text, size_t len, yaml_doc_fn fn, void *arg, struct err *err)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct yaml_place at = {1, 1};
	struct jval root;
	size_t start = 0;

	if (len > YAML_BYTES_MAX)
		return err_set(err, 0, "1:1: longer than %u bytes", YAML_BYTES_MAX);
	for (; start < len && strchr(" \t\r\n", text[start]) && text[start]; start++) {
		at.column = text[start] == '\n' ? 1 : at.column + 1;
		at.line += text[start] == '\n';
	}
	doc = parse_json(text, len, start);
	if (!doc)
		return load_yaml(text, len, fn, arg, err);
	root = jdoc_root(doc);
	return fn(arg, &root, at, err);
}
