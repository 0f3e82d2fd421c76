// SPDX-License-Identifier: Apache-2.0
#include "main/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define FILE_MAX (1u << 20)
#define KEY_MAX 65

struct reader {
	const char *path;
	struct options *options;
	yaml_parser_t parser;
	yaml_event_t event; // the current one
	bool has_event;
};

static int fail(const struct reader *rd, const yaml_mark_t *at, struct err *err, const char *text)
{
	return err_set(err, 0, "%s:%zu:%zu: %s", rd->path, at->line + 1, at->column + 1, text);
}

static void drop_event(struct reader *rd)
{
	if (rd->has_event)
		yaml_event_delete(&rd->event);
	rd->has_event = false;
}

static int next(struct reader *rd, struct err *err)
{
	drop_event(rd);
	if (!yaml_parser_parse(&rd->parser, &rd->event))
		return fail(rd, &rd->parser.problem_mark, err,
			    rd->parser.problem ? rd->parser.problem : "not YAML");
	rd->has_event = true;
	return 0;
}

// A NUL inside a scalar would hide what follows it.
static const char *scalar(const struct reader *rd)
{
	const char *text = (const char *)rd->event.data.scalar.value;

	return strlen(text) == rd->event.data.scalar.length ? text : "\x01";
}

static int set_value(struct reader *rd, const char *key, struct err *err)
{
	struct err why = ERR_INIT;
	const char *value = scalar(rd);

	if (value[0] == '\0')
		return fail(rd, &rd->event.start_mark, err, "value is empty");
	if (options_set(rd->options, key, value, &why) < 0)
		return fail(rd, &rd->event.start_mark, err, why.text);
	return 0;
}

static int read_list(struct reader *rd, const char *key, struct err *err)
{
	int r;

	while ((r = next(rd, err)) == 0 && rd->event.type == YAML_SCALAR_EVENT) {
		r = set_value(rd, key, err);
		if (r < 0)
			return r;
	}
	if (r == 0 && rd->event.type != YAML_SEQUENCE_END_EVENT)
		r = fail(rd, &rd->event.start_mark, err, "expected a plain value");
	return r;
}

static int read_value(struct reader *rd, const char *key, struct err *err)
{
	int r = next(rd, err);

	if (r < 0)
		return r;
	if (rd->event.type == YAML_SCALAR_EVENT)
		return set_value(rd, key, err);
	if (rd->event.type == YAML_SEQUENCE_START_EVENT && options_is_list(key))
		return read_list(rd, key, err);
	return fail(rd, &rd->event.start_mark, err,
		    options_is_list(key) ? "expected a value or a list" : "expected a plain value");
}

// A config file that names a config file would only lead in circles.
static bool is_key(const char *key)
{
	struct options scratch;

	if (strcmp(key, "config") == 0)
		return false;
	options_init(&scratch);
	return options_set(&scratch, key, NULL, NULL) != -ENOENT;
}

static int read_pair(struct reader *rd, struct err *err)
{
	char key[KEY_MAX], text[KEY_MAX + 32];

	if (rd->event.type != YAML_SCALAR_EVENT)
		return fail(rd, &rd->event.start_mark, err, "expected a key");
	snprintf(key, sizeof(key), "%s", scalar(rd));
	if (!is_key(key)) {
		snprintf(text, sizeof(text), "unknown key '%s'", key);
		return fail(rd, &rd->event.start_mark, err, text);
	}
	return read_value(rd, key, err);
}

static int read_mapping(struct reader *rd, struct err *err)
{
	int r;

	while ((r = next(rd, err)) == 0 && rd->event.type != YAML_MAPPING_END_EVENT) {
		r = read_pair(rd, err);
		if (r < 0)
			return r;
	}
	return r;
}

// Stream and document starts; then one mapping, or nothing; then the end.
static int read_stream(struct reader *rd, struct err *err)
{
	int r;

	do {
		r = next(rd, err);
	} while (r == 0 && (rd->event.type == YAML_STREAM_START_EVENT ||
			    rd->event.type == YAML_DOCUMENT_START_EVENT));
	if (r < 0 || rd->event.type == YAML_STREAM_END_EVENT)
		return r;
	if (rd->event.type == YAML_SCALAR_EVENT && rd->event.data.scalar.length == 0)
		return 0;
	if (rd->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, &rd->event.start_mark, err, "expected a mapping of options");
	r = read_mapping(rd, err);
	if (r == 0)
		r = next(rd, err);
	if (r == 0)
		r = next(rd, err);
	if (r == 0 && rd->event.type != YAML_STREAM_END_EVENT)
		r = fail(rd, &rd->event.start_mark, err, "a second document");
	return r;
}

int config_load(const char *path, struct options *o, struct err *err)
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(FILE_MAX);
	struct reader rd = {.path = path, .options = o};
	int r = buf_read_file(&b, path);

	if (r < 0)
		return err_set(err, -r, "read `%s`", path);
	if (!yaml_parser_initialize(&rd.parser))
		return err_set(err, ENOMEM, "parse `%s`", path);
	yaml_parser_set_input_string(&rd.parser, (const unsigned char *)(b.data ? b.data : ""),
				     b.len);
	r = read_stream(&rd, err);
	drop_event(&rd);
	yaml_parser_delete(&rd.parser);
	return r;
}
