// SPDX-License-Identifier: Apache-2.0
#include "features/pod/pod_api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NAME_LEN_MAX 253 // bytes, DNS subdomain

static void pod_freep(struct pod **p)
{
	pod_free(*p);
}

static int get_text(const struct jval *op, const char *key, int flags, char **ret, struct err *err)
{
	const char *text = "";
	int r = jget_string(op, key, flags, &text, err);

	if (r < 0)
		return r;
	if (strlen(text) > NAME_LEN_MAX || (flags & JREQUIRED && text[0] == '\0'))
		return err_set(err, 0, "%s.%s: not 1..%d bytes long", op->path, key, NAME_LEN_MAX);
	*ret = strdup(text);
	return *ret ? 0 : err_set(err, ENOMEM, "pod");
}

static int get_ips(const struct jval *op, struct pod *p, struct err *err)
{
	struct jval ips = {0};
	int r = jget_array(op, "ips", JOPTIONAL, &ips, err);
	size_t count = r < 0 ? 0 : jarray_len(&ips);

	if (r < 0)
		return r;
	if (count > POD_IPS_MAX)
		return err_set(err, 0, "%s: more than %d entries", ips.path, POD_IPS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct jval e = jarray_at(&ips, i);
		const char *text;

		r = jval_string(&e, &text, err);
		if (r < 0)
			return r;
		if (ipaddr_parse(text, &p->ips[i]) < 0)
			return err_set(err, 0, "%s: `%.64s` is no address", e.path, text);
	}
	p->ip_count = count;
	return 0;
}

static int check_labels(const struct jval *op, struct err *err)
{
	struct jval labels = {0}, value;
	const char *key, *text;
	void *it = NULL;
	int r = jget_object(op, "labels", JOPTIONAL, &labels, err);

	if (r < 0 || jval_is_null(&labels))
		return r;
	while (r == 0 && jobject_next(&labels, &it, &key, &value))
		r = jval_string(&value, &text, err);
	return r;
}

int pod_api_decode(const struct jval *op, struct pod **ret_pod, struct err *err)
{
	_cleanup_(pod_freep) struct pod *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return err_set(err, ENOMEM, "pod");
	r = get_text(op, "namespace", JREQUIRED, &p->namespace, err);
	if (r == 0)
		r = get_text(op, "name", JREQUIRED, &p->name, err);
	if (r == 0)
		r = get_text(op, "uid", JOPTIONAL, &p->uid, err);
	if (r == 0)
		r = get_text(op, "phase", JOPTIONAL, &p->phase, err);
	if (r == 0)
		r = get_text(op, "node", JOPTIONAL, &p->node, err);
	if (r == 0)
		r = jget_bool(op, "host_network", JOPTIONAL, &p->host_network, err);
	if (r == 0)
		r = get_ips(op, p, err);
	if (r == 0)
		r = check_labels(op, err);
	if (r == 0)
		*ret_pod = TAKE_PTR(p);
	return r;
}
