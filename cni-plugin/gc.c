// SPDX-License-Identifier: Apache-2.0
#include "gc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/line.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "daemon.h"

#define PAGES_MAX 1000 // of weftd's list, against a daemon that never ends it
#define PER_ENTRY 48   // bytes of a request beside the two strings: keys and punctuation

// Key of an attachment in a set; ids cannot hold a slash. Malloc'ed or NULL.
static char *make_key(const char *id, const char *ifname)
{
	char *key = NULL;

	return asprintf(&key, "%s/%s", id, ifname) < 0 ? NULL : key;
}

static int read_entry(const struct jval *v, const char **ret_id, const char **ret_ifname,
		      struct err *err)
{
	int r;

	if (jval_type(v) != JTYPE_OBJECT)
		return err_set(err, 0, "%s: expected an object", v->path);
	r = jget_string(v, "containerID", JREQUIRED | JNOCASE, ret_id, err);
	if (r == 0)
		r = jget_string(v, "ifname", JREQUIRED | JNOCASE, ret_ifname, err);
	return r;
}

// Checks the list and adds up what it takes in a request.
static int measure(const struct jval *valid, size_t *ret_bytes, struct err *err)
{
	size_t bytes = 0;

	for (size_t i = 0; i < jarray_len(valid); i++) {
		struct jval v = jarray_at(valid, i);
		const char *id = "", *ifname = "";
		int r = read_entry(&v, &id, &ifname, err);

		if (r < 0)
			return r;
		// Escapes make a string at most six times as long.
		bytes += PER_ENTRY + strlen(id) + 6 * strlen(ifname);
	}
	*ret_bytes = bytes;
	return 0;
}

static int add_items(struct map *known, const struct jval *reply, const char *network)
{
	struct jval items = {0};
	int r = jget_array(reply, "items", JREQUIRED, &items, NULL);

	for (size_t i = 0; r == 0 && i < jarray_len(&items); i++) {
		struct jval v = jarray_at(&items, i);
		const char *id = "", *ifname = "", *net = "";
		_free_ char *key = NULL;

		if (jget_string(&v, "container_id", JREQUIRED, &id, NULL) < 0 ||
		    jget_string(&v, "ifname", JREQUIRED, &ifname, NULL) < 0 ||
		    jget_string(&v, "network", JREQUIRED, &net, NULL) < 0)
			return -EINVAL;
		if (strcmp(net, network) != 0)
			continue;
		key = make_key(id, ifname);
		r = key ? map_set(known, key, known) : -ENOMEM;
	}
	return r;
}

// One page of weftd's attachments; *after is the cursor of the next, 0 on the last.
static int read_page(struct client *c, const char *network, int64_t *after, struct map *known,
		     unsigned long long deadline_ns, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	static const struct jrange any = {1, INT64_MAX};
	struct jval root;
	int r;

	jput_object(j, NULL);
	jput_string(j, "type", "get");
	jput_string(j, "object", "pod");
	if (*after)
		jput_int(j, "after", *after);
	r = daemon_call(c, j, deadline_ns, &reply, err);
	if (r < 0)
		return r;
	root = jdoc_root(reply);
	r = add_items(known, &root, network);
	*after = 0;
	if (r == 0)
		r = jget_int(&root, "next", JOPTIONAL, any, after, err);
	return r < 0 ? err_set(err, -r, "list of weftd's attachments") : 0;
}

static int read_known(struct client *c, const char *network, struct map *known,
		      unsigned long long deadline_ns, struct err *err)
{
	int64_t after = 0;

	for (int i = 0; i < PAGES_MAX; i++) {
		int r = read_page(c, network, &after, known, deadline_ns, err);

		if (r < 0 || after == 0)
			return r;
	}
	return err_set(err, EMSGSIZE, "list of weftd's attachments");
}

// known NULL: all entries.
static void put_valid(struct jput *j, const struct jval *valid, const struct map *known)
{
	jput_array(j, "valid");
	for (size_t i = 0; i < jarray_len(valid); i++) {
		struct jval v = jarray_at(valid, i);
		const char *id = "", *ifname = "";
		_free_ char *key = NULL;

		if (read_entry(&v, &id, &ifname, NULL) < 0)
			continue;
		key = known ? make_key(id, ifname) : NULL;
		if (known && key && !map_get(known, key))
			continue;
		jput_object(j, NULL);
		jput_string(j, "container_id", id);
		jput_string(j, "ifname", ifname);
		jput_end(j);
	}
	jput_end(j);
}

int gc_send(struct client *c, const char *network, const struct jval *valid,
	    unsigned long long deadline_ns, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	_cleanup_(map_freep) struct map *known = NULL;
	size_t bytes = 0;
	int r = valid ? measure(valid, &bytes, err) : 0;

	if (r < 0)
		return cni_code(err, r, CNI_CODE_CONFIG);
	if (bytes > API_LINE_MAX / 2) {
		known = map_new(NULL);
		r = known ? read_known(c, network, known, deadline_ns, err) :
			    err_set(err, ENOMEM, "gc");
	}
	if (r < 0)
		return r;
	jput_object(j, NULL);
	jput_string(j, "type", "gc");
	jput_string(j, "network", network);
	if (valid)
		put_valid(j, valid, known);
	return daemon_call(c, j, deadline_ns, &reply, err);
}
