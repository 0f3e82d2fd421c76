// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cell.h"
#include "json/jput.h"

#define TEXT_MAX (1u << 20)

// "before" age "after", or nothing where the key has no number.
static int add_age(const struct jval *obj, const char *key, const char *before, const char *after,
		   struct buf *out)
{
	static const struct jrange range = {0, INT64_MAX};
	_cleanup_(buf_fini) struct buf age = BUF_INIT(128);
	int64_t seconds = -1;

	if (jget_int(obj, key, JOPTIONAL, range, &seconds, NULL) < 0 || seconds < 0)
		return 0;
	if (cell_format_age((uint64_t)seconds, &age) < 0)
		return -ENOMEM;
	return buf_addf(out, "%s%s%s", before, age.data, after);
}

static int add_value(const struct jval *obj, const char *key, struct buf *out)
{
	struct jval value;
	int r = jget(obj, key, JOPTIONAL, &value, NULL);

	if (r < 0)
		return r;
	if (jval_is_null(&value))
		return buf_addf(out, "-");
	return cell_format(CELL_TEXT, &value, AF_UNSPEC, out);
}

// A list of addresses or prefixes on one line.
static int add_list(const struct jval *status, const char *key, struct buf *out)
{
	struct jval value;
	size_t start = out->len;
	int r = jget(status, key, JOPTIONAL, &value, NULL);

	if (r == 0)
		r = cell_format(CELL_ADDRS, &value, AF_UNSPEC, out);
	return r == 0 && out->len == start ? buf_addf(out, "-") : r;
}

static int add_addresses(const struct jval *status, struct buf *out)
{
	return add_list(status, "node_ips", out);
}

static int add_ranges(const struct jval *status, struct buf *out)
{
	int r = add_list(status, "pod_cidrs", out);

	if (r == 0)
		r = buf_addf(out, ", MTU ");
	return r < 0 ? r : add_value(status, "pod_mtu", out);
}

static int add_version(const struct jval *status, struct buf *out)
{
	int r = add_value(status, "version", out);

	return r < 0 ? r : add_age(status, "uptime_s", " (up ", ")", out);
}

static int add_agent(const struct jval *status, struct buf *out)
{
	bool connected = false, synced = false;
	struct jval agent = {0};
	int r;

	if (jget_object(status, "agent", JOPTIONAL, &agent, NULL) < 0 || jval_is_null(&agent))
		return buf_addf(out, "-");
	jget_bool(&agent, "connected", JOPTIONAL, &connected, NULL);
	jget_bool(&agent, "synced", JOPTIONAL, &synced, NULL);
	r = buf_addf(out, "%s, %s", connected ? "connected" : "not connected",
		     synced ? "synced" : "not synced");
	return r < 0 ? r : add_age(&agent, "last_event_age_s", ", last event ", " ago", out);
}

static int add_uplink(const struct jval *status, struct buf *out)
{
	struct jval uplink = {0};
	const char *name = "";
	int r;

	if (jget_object(status, "uplink", JOPTIONAL, &uplink, NULL) < 0 || jval_is_null(&uplink))
		return buf_addf(out, "-");
	r = add_value(&uplink, "kind", out);
	jget_string(&uplink, "name", JOPTIONAL, &name, NULL);
	// Kind "none" has no name and no MTU.
	if (r < 0 || !name[0])
		return r;
	r = buf_addf(out, " %s, MTU ", name);
	return r < 0 ? r : add_value(&uplink, "mtu", out);
}

static int add_problems(const struct jval *status, struct buf *out)
{
	struct jval problems = {0};
	int r = jget_array(status, "problems", JOPTIONAL, &problems, NULL);

	if (r < 0 || jarray_len(&problems) == 0)
		return buf_addf(out, "problems   none\n");
	for (size_t i = 0; r == 0 && i < jarray_len(&problems); i++) {
		struct jval problem = jarray_at(&problems, i);
		const char *what = "?", *hint = "";

		jget_string(&problem, "what", JOPTIONAL, &what, NULL);
		jget_string(&problem, "hint", JOPTIONAL, &hint, NULL);
		r = buf_addf(out, "problem    %s\n", what);
		if (r == 0 && hint[0])
			r = buf_addf(out, "  hint     %s\n", hint);
	}
	return r;
}

static int add_line(const struct jval *status, const char *key, struct buf *out)
{
	static const struct {
		const char *key;
		int (*fn)(const struct jval *status, struct buf *out);
	} special[] = {
		{"version", add_version},     {"agent", add_agent},   {"uplink", add_uplink},
		{"addresses", add_addresses}, {"ranges", add_ranges},
	};
	int r = buf_addf(out, "%-11s", key);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(special); i++)
		if (strcmp(special[i].key, key) == 0) {
			r = special[i].fn(status, out);
			return r < 0 ? r : buf_addf(out, "\n");
		}
	if (r == 0)
		r = add_value(status, key, out);
	return r < 0 ? r : buf_addf(out, "\n");
}

int status_print(const struct jval *status, FILE *out, struct err *err)
{
	static const char *const keys[] = {
		"state",  "version", "node", "addresses", "ranges",
		"uplink", "agent",   "pods", "ports",     "restarts",
	};
	_cleanup_(buf_fini) struct buf text = BUF_INIT(TEXT_MAX);
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(keys); i++)
		r = add_line(status, keys[i], &text);
	if (r == 0)
		r = add_problems(status, &text);
	if (r < 0)
		return err_wrap(err, r, "show the status");
	if (fputs(text.data, out) == EOF || fflush(out) != 0)
		return err_set(err, EIO, "write the status");
	return 0;
}

struct jdoc *status_down(const char *why)
{
	static const char *const unknown[] = {
		"version", "uptime_s", "node", "uplink", "pods", "ports", "restarts",
	};
	_cleanup_(jput_freep) struct jput *j = jput_new();

	if (!j)
		return NULL;
	jput_object(j, NULL);
	jput_string(j, "state", "down");
	jput_array(j, "problems");
	jput_object(j, NULL);
	jput_string(j, "what", why);
	jput_string(j, "hint",
		    "start weftd, or name its folder with --run-dir; pods that run keep "
		    "their addresses, but no packet moves until it is back");
	jput_end(j);
	jput_end(j);
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		jput_null(j, unknown[i]);
	jput_object(j, "agent");
	jput_bool(j, "connected", false);
	jput_bool(j, "synced", false);
	jput_null(j, "last_event_age_s");
	jput_end(j);
	jput_end(j);
	return jput_take_doc(j);
}
