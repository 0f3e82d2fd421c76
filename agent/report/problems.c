// SPDX-License-Identifier: Apache-2.0
#include "report/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct problems {
	struct map *scopes; // scope -> struct problem_list, never an empty one
	size_t total;
};

static void list_free(void *value)
{
	problem_list_fini(value);
	free(value);
}

struct problems *problems_new(void)
{
	struct problems *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->scopes = map_new(list_free);
	if (!p->scopes) {
		free(p);
		return NULL;
	}
	return p;
}

void problems_free(struct problems *p)
{
	if (!p)
		return;
	map_free(p->scopes);
	free(p);
}

static struct problem_list *list_copy(const struct problem_list *list)
{
	struct problem_list *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	for (size_t i = 0; i < list->count; i++)
		problem_add(copy, list->at[i].hint, "%s", list->at[i].what);
	copy->more += list->more;
	return copy;
}

static size_t list_total(const struct problem_list *list)
{
	return list ? list->count + list->more : 0;
}

bool problems_set(struct problems *p, const char *scope, const struct problem_list *list)
{
	struct problem_list *old = map_get(p->scopes, scope), *copy;

	if (list_total(list) == 0) {
		p->total -= list_total(old);
		return map_del(p->scopes, scope);
	}
	if (old && problem_list_is_equal(old, list))
		return false;
	copy = list_copy(list);
	if (!copy)
		return false;
	p->total = p->total - list_total(old) + list_total(copy);
	if (map_set(p->scopes, scope, copy) == 0)
		return true;
	p->total -= list_total(copy);
	list_free(copy);
	return false;
}

bool problems_set_one(struct problems *p, const char *scope, const char *what, const char *hint)
{
	struct problem_list list = {0};
	bool is_changed;

	if (what)
		problem_add(&list, hint, "%s", what);
	is_changed = problems_set(p, scope, &list);
	problem_list_fini(&list);
	return is_changed;
}

struct clearing {
	struct problems *problems;
	const char *prefix;
	bool found;
};

static int clear_scope(const char *scope, void *value, void *arg)
{
	struct clearing *c = arg;

	if (strncmp(scope, c->prefix, strlen(c->prefix)) != 0)
		return 0;
	c->problems->total -= list_total(value);
	c->found = true;
	map_del(c->problems->scopes, scope);
	return 0;
}

bool problems_clear_prefix(struct problems *p, const char *prefix)
{
	struct clearing c = {.problems = p, .prefix = prefix};

	map_foreach(p->scopes, clear_scope, &c);
	return c.found;
}

size_t problems_len(const struct problems *p)
{
	return p->total;
}

struct putting {
	struct jput *out;
	size_t count;
};

static void put_one(struct jput *j, const char *what, const char *hint)
{
	jput_object(j, NULL);
	jput_string(j, "what", what);
	jput_string(j, "hint", hint);
	jput_end(j);
}

static int put_list(const char *scope UNUSED, void *value, void *arg)
{
	const struct problem_list *list = value;
	struct putting *put = arg;

	for (size_t i = 0; i < list->count && put->count < PROBLEMS_REPORT_MAX; i++, put->count++)
		put_one(put->out, list->at[i].what, list->at[i].hint);
	return 0;
}

void problems_put(struct problems *p, struct jput *j)
{
	struct putting put = {.out = j};
	char more[64];

	jput_array(j, "problems");
	map_foreach(p->scopes, put_list, &put);
	if (p->total > put.count) {
		(void)snprintf(more, sizeof(more), "%zu more problems", p->total - put.count);
		put_one(j, more, "mend the others first, or see the agent's log");
	}
	jput_end(j);
}
