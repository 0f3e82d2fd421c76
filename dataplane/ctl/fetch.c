// SPDX-License-Identifier: Apache-2.0
#include "fetch.h"

#include <errno.h>
#include <inttypes.h>

#include "api/client.h"
#include "base/cleanup.h"
#include "base/clock.h"

// A pause between two events has no bound; a single wait needs one.
#define WATCH_WAIT_MS 600000

static int open_client(const struct ctl *ctl, struct client **ret_client, struct err *err)
{
	return client_open(ctl->run_dir, "weftctl", clock_deadline_ns(CTL_CALL_MS), ret_client,
			   err);
}

static int call_object(struct client *c, const char *type, const char *object, int64_t after,
		       struct jdoc **ret_reply, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_free_ char *request = NULL;

	if (j) {
		jput_object(j, NULL);
		jput_string(j, "type", type);
		jput_string(j, "object", object);
		if (after > 0)
			jput_int(j, "after", after);
		jput_end(j);
		request = jput_take(j);
	}
	if (!request)
		return err_set(err, ENOMEM, "build a request");
	return client_call(c, request, clock_deadline_ns(CTL_CALL_MS), ret_reply, err);
}

static int walk_items(const struct jval *reply, fetch_fn *fn, void *arg, struct err *err)
{
	struct jval items;
	int r = jget_array(reply, "items", JREQUIRED, &items, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&items); i++) {
		struct jval row = jarray_at(&items, i);

		r = fn(&row, arg, err);
	}
	return r;
}

// One page from cursor *after; *after is 0 behind the last page.
static int fetch_page(struct client *c, const char *object, int64_t *after, fetch_fn *fn, void *arg,
		      struct err *err)
{
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	int64_t next = 0;
	struct jval root;
	int r = call_object(c, "get", object, *after, &reply, err);

	if (r < 0)
		return r;
	root = jdoc_root(reply);
	r = walk_items(&root, fn, arg, err);
	if (r == 0)
		r = jget_int(&root, "next", JOPTIONAL, (struct jrange){1, INT64_MAX}, &next, err);
	// Cursors grow, so that a confused daemon cannot keep us for ever.
	if (r == 0 && next != 0 && next <= *after)
		r = err_set(err, EPROTO, "page %" PRId64 " follows page %" PRId64, next, *after);
	*after = next;
	return r;
}

int fetch_rows(const struct ctl *ctl, const char *object, fetch_fn *fn, void *arg, struct err *err)
{
	_cleanup_(client_closep) struct client *c = NULL;
	int64_t after = 0;
	int r = open_client(ctl, &c, err);

	if (r < 0)
		return r;
	do
		r = fetch_page(c, object, &after, fn, arg, err);
	while (r == 0 && after != 0);
	return r;
}

struct added {
	fetch_fn *fn;
	void *arg;
};

// Dresses a row that was there before the watch as an event.
static int pass_added(const struct jval *row, void *arg, struct err *err)
{
	const struct added *a = arg;
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_cleanup_(jdoc_freep) struct jdoc *event = NULL;
	struct jval root;

	if (j) {
		jput_object(j, NULL);
		jput_string(j, "event", "added");
		jput_value(j, "item", row);
		jput_end(j);
		event = jput_take_doc(j);
	}
	if (!event)
		return err_set(err, ENOMEM, "build an event");
	root = jdoc_root(event);
	return a->fn(&root, a->arg, err);
}

static int pass_next(struct client *c, fetch_fn *fn, void *arg, struct err *err)
{
	_cleanup_(jdoc_freep) struct jdoc *line = NULL;
	struct err timeout = ERR_INIT;
	int r = client_next(c, clock_deadline_ns(WATCH_WAIT_MS), &line, &timeout);
	struct jval root;

	if (r == -ETIMEDOUT)
		return 0;
	if (r < 0) {
		if (err)
			*err = timeout;
		return r;
	}
	root = jdoc_root(line);
	return fn(&root, arg, err);
}

int fetch_watch(const struct ctl *ctl, const char *object, fetch_fn *fn, void *arg, struct err *err)
{
	_cleanup_(client_closep) struct client *c = NULL;
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	struct added added = {fn, arg};
	struct jval root;
	int r = open_client(ctl, &c, err);

	if (r < 0)
		return r;
	r = call_object(c, "watch", object, 0, &reply, err);
	if (r < 0)
		return r;
	root = jdoc_root(reply);
	r = walk_items(&root, pass_added, &added, err);
	while (r == 0)
		r = pass_next(c, fn, arg, err);
	return r;
}
