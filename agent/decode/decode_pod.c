// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/kinds.h"
#include "model/names.h"

static int decode_spec(const struct jval *spec, struct object *obj, struct err *err)
{
	const char *node = "";
	int r = jget_string(spec, "nodeName", JOPTIONAL, &node, err);

	if (r == 0)
		r = jget_bool(spec, "hostNetwork", JOPTIONAL, &obj->pod.host_network, err);
	if (r < 0)
		return r;
	if (*node && !names_is_subdomain(node))
		return err_set(err, 0, "%s.nodeName: `%.256s` is no valid name", spec->path, node);
	free(obj->pod.node);
	obj->pod.node = strdup(node);
	return obj->pod.node ? 0 : err_set(err, ENOMEM, "%s", spec->path);
}

static int decode_phase(const struct jval *status, struct object *obj, struct err *err)
{
	const char *phase = "";
	int r = jget_string(status, "phase", JOPTIONAL, &phase, err);

	if (r < 0 || !*phase)
		return r;
	if (pod_phase_parse(phase, &obj->pod.phase) < 0)
		return err_set(err, 0, "%s.phase: `%.64s` is no pod phase", status->path, phase);
	return 0;
}

// status.podIP repeats the first of status.podIPs; adding it again changes nothing.
static int decode_ips(const struct jval *status, struct object *obj,
		      const struct decode_notes *notes, struct err *err)
{
	struct jval list = {0}, single = {0};
	int r = jget_array(status, "podIPs", JOPTIONAL, &list, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&list); i++) {
		struct jval entry = jarray_at(&list, i), ip = {0};

		r = jget(&entry, "ip", JREQUIRED, &ip, err);
		if (r == 0)
			decode_address(&ip, obj, &obj->pod.ips, notes);
	}
	if (r == 0)
		r = jget(status, "podIP", JOPTIONAL, &single, err);
	if (r == 0 && jarray_len(&list) == 0 && !jval_is_null(&single))
		decode_address(&single, obj, &obj->pod.ips, notes);
	return r;
}

int decode_pod(const struct jval *value, struct object *obj, const struct decode_notes *notes,
	       struct err *err)
{
	struct jval spec = {0}, status = {0};
	int r = jget_object(value, "spec", JOPTIONAL, &spec, err);

	if (r == 0)
		r = jget_object(value, "status", JOPTIONAL, &status, err);
	if (r == 0)
		r = decode_spec(&spec, obj, err);
	if (r < 0 || jval_is_null(&status))
		return r;
	r = decode_phase(&status, obj, err);
	return r < 0 ? r : decode_ips(&status, obj, notes, err);
}
