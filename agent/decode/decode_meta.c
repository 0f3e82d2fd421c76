// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/kinds.h"
#include "model/names.h"

// One object's labels together; the API server's own limit is that of the whole object.
#define LABELS_MAX 1024
#define LABEL_BYTES_MAX (128u << 10)

static int copy_text(const char *text, char **ret_copy, struct err *err)
{
	char *copy = strdup(text);

	if (!copy)
		return err_set(err, ENOMEM, "copy a name");
	*ret_copy = copy;
	return 0;
}

static int decode_names(const struct jval *meta, struct object *obj, struct err *err)
{
	const char *name = NULL, *uid = "", *ns = obj->kind == OBJECT_POD ? "default" : "";
	int r = jget_string(meta, "name", JREQUIRED, &name, err);

	if (r < 0)
		return r;
	r = jget_string(meta, "uid", JOPTIONAL, &uid, err);
	if (r < 0)
		return r;
	if (obj->kind == OBJECT_POD)
		r = jget_string(meta, "namespace", JOPTIONAL, &ns, err);
	if (r < 0)
		return r;
	if (obj->kind == OBJECT_POD && !*ns)
		ns = "default";
	if (*ns && !names_is_label(ns))
		return err_set(err, 0, "%s.namespace: `%.64s` is no valid name", meta->path, ns);
	if (obj->kind == OBJECT_NAMESPACE ? !names_is_label(name) : !names_is_subdomain(name))
		return err_set(err, 0, "%s.name: `%.256s` is no valid name", meta->path, name);
	if (!names_is_uid(uid))
		return err_set(err, 0, "%s.uid: not a uid", meta->path);
	r = copy_text(name, &obj->meta.name, err);
	if (r == 0)
		r = copy_text(ns, &obj->meta.namespace, err);
	return r < 0 ? r : copy_text(uid, &obj->meta.uid, err);
}

static int compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct object_label *)a)->key, ((const struct object_label *)b)->key);
}

static size_t count_members(const struct jval *obj)
{
	size_t count = 0;
	struct jval value;
	const char *key;

	for (void *it = NULL; jobject_next(obj, &it, &key, &value);)
		count++;
	return count;
}

static int add_label(struct object_meta *meta, const char *key, const struct jval *value,
		     struct err *err)
{
	struct object_label *label = &meta->labels[meta->label_count];
	const char *text = NULL;
	int r = jval_string(value, &text, err);

	if (r < 0)
		return r;
	if (!names_is_label_key(key) || !names_is_label_value(text))
		return err_set(err, 0, "%s: `%.80s=%.80s` is no valid label", value->path, key,
			       text);
	meta->label_count++;
	r = copy_text(key, &label->key, err);
	return r < 0 ? r : copy_text(text, &label->value, err);
}

static int decode_labels(const struct jval *meta, struct object *obj, struct err *err)
{
	struct jval labels = {0}, value;
	size_t bytes = 0, count;
	const char *key;
	int r = jget_object(meta, "labels", JOPTIONAL, &labels, err);

	count = r < 0 ? 0 : count_members(&labels);
	if (count == 0)
		return r;
	if (count > LABELS_MAX)
		return err_set(err, 0, "%s: more than %d labels", labels.path, LABELS_MAX);
	obj->meta.labels = calloc(count, sizeof(*obj->meta.labels));
	if (!obj->meta.labels)
		return err_set(err, ENOMEM, "%s", labels.path);
	for (void *it = NULL; jobject_next(&labels, &it, &key, &value);) {
		r = add_label(&obj->meta, key, &value, err);
		if (r < 0)
			return r;
		bytes += strlen(key) + NAMES_LABEL_MAX;
		if (bytes > LABEL_BYTES_MAX)
			return err_set(err, 0, "%s: labels are too long together", labels.path);
	}
	qsort(obj->meta.labels, count, sizeof(*obj->meta.labels), compare_labels);
	return 0;
}

int decode_meta(const struct jval *value, struct object *obj, struct err *err)
{
	struct jval meta = {0};
	int r = jget_object(value, "metadata", JREQUIRED, &meta, err);

	if (r == 0)
		r = decode_names(&meta, obj, err);
	return r < 0 ? r : decode_labels(&meta, obj, err);
}
