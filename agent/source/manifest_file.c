// SPDX-License-Identifier: Apache-2.0
#include "source/manifest_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "decode/decode.h"
#include "source/yaml.h"

static const char hint_broken[] = "the last good content of the file counts until it is mended";
static const char hint_refused[] = "this object is left out until the file is mended";
static const char hint_note[] = "this value is left out, the rest of the object counts";

struct reading {
	struct manifest_file *file;
	const char *path;
	struct yaml_place at; // of the running document
	bool is_short;        // of memory
};

static void add_object(void *arg, struct object *obj)
{
	struct reading *rd = arg;
	struct manifest_file *file = rd->file;
	struct object **objects = file->objects;

	if (file->count == file->cap) {
		size_t cap = file->cap ? file->cap * 2 : 4;

		objects = reallocarray(objects, cap, sizeof(struct object *));
		if (!objects) {
			object_unref(obj);
			rd->is_short = true;
			return;
		}
		file->objects = objects;
		file->cap = cap;
	}
	file->objects[file->count++] = obj;
}

static void add_failed(void *arg, const struct err *err)
{
	struct reading *rd = arg;

	rd->file->has_refused = true;
	problem_add(&rd->file->problems, hint_refused, "manifest %s:%zu:%zu: %s", rd->path,
		    rd->at.line, rd->at.column, err->text);
}

static void add_note(void *arg, const char *text)
{
	struct reading *rd = arg;

	problem_add(&rd->file->problems, hint_note, "manifest %s:%zu:%zu: %s", rd->path,
		    rd->at.line, rd->at.column, text);
}

static void ignore(void *arg UNUSED)
{
}

static int on_document(void *arg, const struct jval *root, struct yaml_place at, struct err *err)
{
	struct reading *rd = arg;
	struct decode_sink sink = {.object = add_object,
				   .failed = add_failed,
				   .ignored = ignore,
				   .notes = {.add = add_note, .arg = rd},
				   .arg = rd};

	rd->at = at;
	decode_document(root, &sink);
	return rd->is_short ? err_set(err, ENOMEM, "read objects") : 0;
}

static void drop_objects(struct manifest_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		object_unref(file->objects[i]);
	free(file->objects);
	file->objects = NULL;
	file->count = file->cap = 0;
}

void manifest_file_fini(struct manifest_file *file)
{
	drop_objects(file);
	problem_list_fini(&file->problems);
}

static void set_broken(struct manifest_file *file)
{
	drop_objects(file);
	problem_list_fini(&file->problems);
	file->is_broken = true;
}

void manifest_file_parse(struct manifest_file *file, const char *path, const char *text, size_t len)
{
	struct reading rd = {.file = file, .path = path};
	struct err err = ERR_INIT;

	if (yaml_load(text, len, on_document, &rd, &err) == 0)
		return;
	set_broken(file);
	problem_add(&file->problems, hint_broken, "manifest %s:%s", path, err.text);
}

// O_NONBLOCK: the name may have become a FIFO since it was looked at.
static int read_text(const char *path, struct buf *text)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return buf_read_fd(text, fd);
}

int manifest_file_read(struct manifest_file *file, const char *path)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(YAML_BYTES_MAX);
	struct err err = ERR_INIT;
	int r = read_text(path, &text);

	if (r == -ENOENT)
		return MANIFEST_FILE_GONE;
	if (r == 0) {
		manifest_file_parse(file, path, text.data ? text.data : "", text.len);
		return MANIFEST_FILE_READ;
	}
	set_broken(file);
	if (r == -EMSGSIZE)
		err_set(&err, 0, "longer than %u bytes", YAML_BYTES_MAX);
	else
		err_set(&err, -r, "read");
	problem_add(&file->problems, hint_broken, "manifest %s:1:1: %s", path, err.text);
	return MANIFEST_FILE_READ;
}
