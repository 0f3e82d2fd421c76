// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "json/jput.h"

static void put_ips(struct jput *j, const struct object_ips *ips)
{
	jput_array(j, "ips");
	for (size_t i = 0; i < ips->count; i++)
		jput_ipaddr(j, NULL, &ips->at[i]);
	jput_end(j);
}

static void put_node(struct jput *j, const struct object *obj, const struct compile_env *env)
{
	jput_bool(j, "self", !strcmp(obj->meta.name, env->self));
	put_ips(j, &obj->node.ips);
	jput_array(j, "pod_cidrs");
	for (size_t i = 0; i < obj->node.pod_cidr_count; i++)
		jput_ipprefix(j, NULL, &obj->node.pod_cidrs[i]);
	jput_end(j);
}

static void put_pod(struct jput *j, const struct object *obj)
{
	const struct object_meta *meta = &obj->meta;

	jput_string(j, "uid", meta->uid);
	jput_bool(j, "host_network", obj->pod.host_network);
	jput_string(j, "phase", pod_phase_name(obj->pod.phase));
	put_ips(j, &obj->pod.ips);
	jput_object(j, "labels");
	for (size_t i = 0; i < meta->label_count; i++)
		jput_string(j, meta->labels[i].key, meta->labels[i].value);
	jput_end(j);
	jput_string(j, "node", obj->pod.node);
}

static void put_head(struct jput *j, const struct object *obj, const char *op)
{
	jput_object(j, NULL);
	jput_string(j, "op", op);
	jput_string(j, "kind", object_kind_name(obj->kind));
	if (*obj->meta.namespace)
		jput_string(j, "namespace", obj->meta.namespace);
	jput_string(j, "name", obj->meta.name);
}

static int take_text(struct jput *j, char **ret_text)
{
	char *text;

	jput_end(j);
	text = jput_take(j);
	if (!text)
		return -ENOMEM;
	*ret_text = text;
	return COMPILE_DONE;
}

int compile_set(const struct object *obj, const struct compile_env *env, char **ret_text)
{
	_cleanup_(jput_freep) struct jput *j = NULL;

	if (obj->kind == OBJECT_NAMESPACE)
		return COMPILE_NOTHING;
	j = jput_new();
	if (!j)
		return -ENOMEM;
	put_head(j, obj, "set");
	if (obj->kind == OBJECT_NODE)
		put_node(j, obj, env);
	else
		put_pod(j, obj);
	return take_text(j, ret_text);
}

int compile_del(const struct object *obj, char **ret_text)
{
	_cleanup_(jput_freep) struct jput *j = NULL;

	if (obj->kind == OBJECT_NAMESPACE)
		return COMPILE_NOTHING;
	j = jput_new();
	if (!j)
		return -ENOMEM;
	put_head(j, obj, "del");
	return take_text(j, ret_text);
}
