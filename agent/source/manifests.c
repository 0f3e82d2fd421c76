// SPDX-License-Identifier: Apache-2.0
#include "source/manifests.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "source/claims.h"
#include "source/manifest_file.h"
#include "source/tree.h"

LOG_MODULE("agent.manifests");

#define FOLDER_SCOPE "manifests folder" // no path: a file's scope is its path

struct manifests {
	struct source source;
	struct source_sink sink;
	struct tree *tree;
	struct claims *claims;
};

static void set_problems(struct manifests *m, const char *scope, const struct problem_list *list)
{
	m->sink.problems(m->sink.arg, scope, list);
}

static int claim_objects(struct manifests *m, struct manifest_file *file, const char *path)
{
	char key[OBJECT_KEY_MAX];
	int r = claims_begin(m->claims, path);

	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < file->count; i++) {
		r = claims_add(m->claims, file->objects[i]);
		if (r == CLAIMS_TWICE)
			problem_add(&file->problems, "the later one counts; remove one of them",
				    "manifest %s: %s stands twice", path,
				    object_key(file->objects[i], key));
	}
	claims_end(m->claims, file->has_refused || r < 0);
	return r < 0 ? r : 0;
}

static void take_objects(struct manifests *m, struct manifest_file *file, const char *path)
{
	if (claim_objects(m, file, path) < 0)
		problem_add(&file->problems, "free memory, then write the file again",
			    "manifest %s: out of memory", path);
}

static void on_changed(void *arg, const char *path)
{
	_cleanup_(manifest_file_fini) struct manifest_file file = {0};
	struct manifests *m = arg;

	// What went away meanwhile comes as an event of its own.
	if (manifest_file_read(&file, path) == MANIFEST_FILE_GONE)
		return;
	if (!file.is_broken)
		take_objects(m, &file, path);
	LOG_DEBUG("manifest read", "path=%s objects=%zu problems=%zu", path, file.count,
		  file.problems.count);
	set_problems(m, path, &file.problems);
}

static void on_gone(void *arg, const char *path)
{
	struct manifests *m = arg;
	struct problem_list none = {0};

	LOG_DEBUG("manifest gone", "path=%s", path);
	claims_drop(m->claims, path);
	set_problems(m, path, &none);
}

static void on_looked(void *arg, const struct err *trouble)
{
	struct manifests *m = arg;
	struct problem_list list = {0};

	if (trouble)
		problem_add(&list, "what was read before counts until the folder can be read again",
			    "%s", trouble->text);
	set_problems(m, FOLDER_SCOPE, &list);
	problem_list_fini(&list);
}

static int manifests_start(struct source *source, struct err *err)
{
	struct manifests *m = (struct manifests *)source;
	int r = tree_start(m->tree, err);

	if (r < 0)
		return r;
	LOG_INFO("manifests read", "objects=%zu", claims_len(m->claims));
	m->sink.synced(m->sink.arg);
	return 0;
}

static void manifests_stop(struct source *source)
{
	struct manifests *m = (struct manifests *)source;

	tree_free(m->tree);
	claims_free(m->claims);
	free(m);
}

static const struct source_ops manifests_ops = {
	.name = "manifests",
	.start = manifests_start,
	.stop = manifests_stop,
};

int manifests_new(struct event_base *base, const char *dir, const struct source_sink *sink,
		  struct source **ret_source, struct err *err)
{
	struct manifests *m = calloc(1, sizeof(*m));
	struct tree_hooks hooks = {
		.changed = on_changed, .gone = on_gone, .looked = on_looked, .arg = m};
	int r;

	if (!m)
		return err_set(err, ENOMEM, "read manifests");
	m->source.ops = &manifests_ops;
	m->sink = *sink;
	m->claims = claims_new(&m->sink);
	r = m->claims ? tree_new(base, dir, &hooks, &m->tree, err)
		      : err_set(err, ENOMEM, "read manifests");
	if (r < 0) {
		manifests_stop(&m->source);
		return r;
	}
	*ret_source = &m->source;
	return 0;
}
