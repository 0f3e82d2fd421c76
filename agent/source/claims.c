// SPDX-License-Identifier: Apache-2.0
#include "source/claims.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct file;

// One object of one file.
struct hold {
	struct file *file; // borrowed
	struct object *obj;
	unsigned round; // of the file, when it last held the object
};

struct claim {
	char key[OBJECT_KEY_MAX];
	struct hold *holds; // the last one wins
	size_t count, cap;
};

struct file {
	char *path;
	unsigned round;
	struct claim **claims; // borrowed; each claim has a hold of this file
	size_t count, cap;
};

struct claims {
	const struct source_sink *sink;
	struct map *files;   // path -> struct file
	struct map *objects; // key -> struct claim
	struct file *current;
};

static void claim_free(void *value)
{
	struct claim *claim = value;

	for (size_t i = 0; i < claim->count; i++)
		object_unref(claim->holds[i].obj);
	free(claim->holds);
	free(claim);
}

static void file_free(void *value)
{
	struct file *file = value;

	free(file->claims);
	free(file->path);
	free(file);
}

struct claims *claims_new(const struct source_sink *sink)
{
	struct claims *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sink = sink;
	c->files = map_new(file_free);
	c->objects = map_new(claim_free);
	if (!c->files || !c->objects) {
		claims_free(c);
		return NULL;
	}
	return c;
}

void claims_free(struct claims *c)
{
	if (!c)
		return;
	map_free(c->objects);
	map_free(c->files);
	free(c);
}

static struct file *file_get(struct claims *c, const char *path)
{
	struct file *file = map_get(c->files, path);

	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path || map_set(c->files, path, file) < 0) {
		file_free(file);
		return NULL;
	}
	return file;
}

static struct claim *claim_get(struct claims *c, const char *key)
{
	struct claim *claim = map_get(c->objects, key);

	if (claim)
		return claim;
	claim = calloc(1, sizeof(*claim));
	if (!claim)
		return NULL;
	memccpy(claim->key, key, '\0', sizeof(claim->key) - 1);
	if (map_set(c->objects, key, claim) < 0) {
		claim_free(claim);
		return NULL;
	}
	return claim;
}

// Room for one more element of an array; the array, moved or not, or NULL.
static void *reserve(void *array, size_t count, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 1;

	if (count < *cap)
		return array;
	array = reallocarray(array, more, size);
	if (array)
		*cap = more;
	return array;
}

int claims_begin(struct claims *c, const char *path)
{
	assert(!c->current);
	c->current = file_get(c, path);
	if (!c->current)
		return -ENOMEM;
	c->current->round++;
	return 0;
}

static void report_clash(struct claims *c, const struct claim *claim)
{
	struct problem_list list = {0};
	size_t last = claim->count - 1;

	if (claim->count > 1)
		problem_add(&list, "the file read last counts; remove the object from one of them",
			    "manifest %s: %s also stands in %s", claim->holds[last].file->path,
			    claim->key, claim->holds[last - 1].file->path);
	c->sink->problems(c->sink->arg, claim->key, &list);
	problem_list_fini(&list);
}

static struct hold *find_hold(const struct claim *claim, const struct file *file)
{
	for (size_t i = claim->count; i-- > 0;)
		if (claim->holds[i].file == file)
			return &claim->holds[i];
	return NULL;
}

// Makes hold the last one, which wins.
static void hold_to_end(struct claim *claim, struct hold *hold)
{
	struct hold moved = *hold;
	size_t behind = (size_t)(claim->holds + claim->count - (hold + 1));

	memmove(hold, hold + 1, behind * sizeof(*hold));
	claim->holds[claim->count - 1] = moved;
}

static struct hold *hold_add(struct claim *claim, struct file *file)
{
	struct hold *holds = reserve(claim->holds, claim->count, &claim->cap, sizeof(*holds));
	struct claim **claims;

	if (!holds)
		return NULL;
	claim->holds = holds;
	claims = reserve(file->claims, file->count, &file->cap, sizeof(*claims));
	if (!claims)
		return NULL;
	file->claims = claims;
	file->claims[file->count++] = claim;
	claim->holds[claim->count] = (struct hold){.file = file};
	return &claim->holds[claim->count++];
}

static void claim_forget_empty(struct claims *c, struct claim *claim)
{
	if (claim->count == 0)
		map_del(c->objects, claim->key);
}

int claims_add(struct claims *c, struct object *obj)
{
	char key[OBJECT_KEY_MAX];
	struct claim *claim = claim_get(c, object_key(obj, key));
	struct hold *hold = claim ? find_hold(claim, c->current) : NULL;
	bool is_new = !hold, is_twice = hold && hold->round == c->current->round;

	if (!claim)
		return -ENOMEM;
	if (!hold)
		hold = hold_add(claim, c->current);
	if (!hold) {
		claim_forget_empty(c, claim);
		return -ENOMEM;
	}
	object_unref(hold->obj);
	hold->obj = object_ref(obj);
	hold->round = c->current->round;
	hold_to_end(claim, hold);
	c->sink->set(c->sink->arg, obj);
	if (is_new ? claim->count > 1 : claim->count > 1 && !is_twice)
		report_clash(c, claim);
	return is_twice ? CLAIMS_TWICE : CLAIMS_ADDED;
}

// Takes the file's hold away: the one before wins again, or the object is gone.
static void give_up(struct claims *c, struct claim *claim, struct file *file)
{
	struct hold *hold = find_hold(claim, file);
	struct object *obj = hold->obj;
	bool was_winner = hold == &claim->holds[claim->count - 1];

	hold_to_end(claim, hold);
	claim->count--;
	if (claim->count == 0)
		c->sink->del(c->sink->arg, obj);
	else if (was_winner)
		c->sink->set(c->sink->arg, claim->holds[claim->count - 1].obj);
	if (claim->count > 0)
		report_clash(c, claim);
	object_unref(obj);
	claim_forget_empty(c, claim);
}

// Gives up every claim that the file's current round did not repeat.
static void sweep(struct claims *c, struct file *file)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->count; i++) {
		struct claim *claim = file->claims[i];

		if (find_hold(claim, file)->round == file->round)
			file->claims[kept++] = claim;
		else
			give_up(c, claim, file);
	}
	file->count = kept;
}

void claims_end(struct claims *c, bool keep_rest)
{
	struct file *file = c->current;

	assert(file);
	c->current = NULL;
	if (!keep_rest)
		sweep(c, file);
}

void claims_drop(struct claims *c, const char *path)
{
	struct file *file = map_get(c->files, path);

	if (!file)
		return;
	file->round++;
	sweep(c, file);
	map_del(c->files, path);
}

size_t claims_len(const struct claims *c)
{
	return map_len(c->objects);
}
