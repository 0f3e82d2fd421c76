// SPDX-License-Identifier: Apache-2.0
#include "main/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "features/node/node_api.h"
#include "features/pod/pod_api.h"
#include "main/netconf.h"

#define CODE_INVALID 7

LOG_MODULE("apply");

enum op_kind { OP_SET_NODE, OP_DEL_NODE, OP_SET_POD, OP_DEL_POD };

struct op {
	enum op_kind kind;
	struct node *node; // of set, owned until it is applied
	struct pod *pod;
	const char *namespace, *name; // of del, borrowed from the request
};

struct batch {
	size_t count;
	struct op ops[APPLY_OPS_MAX];
};

static void batch_free(struct batch *b)
{
	for (size_t i = 0; b && i < b->count; i++) {
		node_free(b->ops[i].node);
		pod_free(b->ops[i].pod);
	}
	free(b);
}

static void batch_freep(struct batch **b)
{
	batch_free(*b);
}

static int decode_node(const struct jval *v, bool del, struct op *op, struct err *err)
{
	op->kind = del ? OP_DEL_NODE : OP_SET_NODE;
	return del ? jget_string(v, "name", JREQUIRED, &op->name, err)
		   : node_api_decode(v, &op->node, err);
}

static int decode_pod(const struct jval *v, bool del, struct op *op, struct err *err)
{
	int r;

	op->kind = del ? OP_DEL_POD : OP_SET_POD;
	if (!del)
		return pod_api_decode(v, &op->pod, err);
	r = jget_string(v, "namespace", JREQUIRED, &op->namespace, err);
	if (r == 0)
		r = jget_string(v, "name", JREQUIRED, &op->name, err);
	if (r == 0 && (strlen(op->namespace) > 253 || strlen(op->name) > 253))
		r = err_set(err, 0, "%s: name longer than 253 bytes", v->path);
	return r;
}

static int decode_op(const struct jval *v, struct op *op, struct err *err)
{
	const char *verb, *kind;
	bool del;
	int r = jget_string(v, "op", JREQUIRED, &verb, err);

	if (r == 0)
		r = jget_string(v, "kind", JREQUIRED, &kind, err);
	if (r < 0)
		return r;
	del = strcmp(verb, "del") == 0;
	if (!del && strcmp(verb, "set") != 0)
		return err_set(err, 0, "%s.op: `%.32s` is neither set nor del", v->path, verb);
	if (strcmp(kind, "node") == 0)
		return decode_node(v, del, op, err);
	if (strcmp(kind, "pod") == 0)
		return decode_pod(v, del, op, err);
	return err_set(err, 0, "%s.kind: `%.32s` is unknown", v->path, kind);
}

static int decode(const struct jval *msg, struct batch *b, struct err *err)
{
	struct jval ops;
	int r = jget_array(msg, "ops", JREQUIRED, &ops, err);

	if (r < 0)
		return r;
	if (jarray_len(&ops) > APPLY_OPS_MAX)
		return err_set(err, 0, "%s: more than %d ops", ops.path, APPLY_OPS_MAX);
	for (size_t i = 0; i < jarray_len(&ops); i++) {
		struct jval v = jarray_at(&ops, i);

		b->count = i + 1;
		r = decode_op(&v, &b->ops[i], err);
		if (r < 0)
			return err_wrap(err, r, "op %zu", i);
	}
	return 0;
}

static int do_op(struct daemon *d, struct op *op)
{
	int r = 0;

	switch (op->kind) {
	case OP_SET_NODE:
		op->node->generation = d->agent.generation;
		r = node_table_set(d->nodes, op->node);
		if (r == 0)
			op->node = NULL;
		break;
	case OP_SET_POD:
		op->pod->generation = d->agent.generation;
		r = pod_table_set(d->pods, op->pod);
		if (r == 0)
			op->pod = NULL;
		break;
	case OP_DEL_NODE:
		node_table_del(d->nodes, op->name);
		break;
	case OP_DEL_POD:
		pod_table_del(d->pods, op->namespace, op->name);
		break;
	}
	return r;
}

static void changed(struct daemon *d)
{
	netconf_update(d);
	attach_pods_changed(d->attach);
}

int apply_ops(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	_cleanup_(batch_freep) struct batch *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return err_set(err, ENOMEM, "ops");
	r = decode(rq->msg, b, err);
	if (r < 0) {
		err->code = CODE_INVALID;
		return r;
	}
	for (size_t i = 0; i < b->count && r == 0; i++)
		r = do_op(d, &b->ops[i]);
	changed(d);
	if (r < 0)
		return err_set(err, -r, "tables of nodes and pods");
	jput_u64(reply, "applied", b->count);
	return 0;
}

int apply_begin_sync(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	(void)err;
	d->agent.sync_owner = conn_id(rq->session->conn);
	jput_u64(reply, "generation", ++d->agent.generation);
	return 0;
}

int apply_end_sync(struct daemon *d, struct request *rq, struct jput *reply, struct err *err)
{
	size_t removed;

	if (d->agent.sync_owner != conn_id(rq->session->conn))
		return err_set_code(err, CODE_INVALID, 0, "end-sync without begin-sync");
	d->agent.sync_owner = 0;
	removed = node_table_sweep(d->nodes, d->agent.generation) +
		  pod_table_sweep(d->pods, d->agent.generation);
	d->agent.synced_once = true;
	LOG_INFO("sync complete", "nodes=%zu pods=%zu removed=%zu", node_table_len(d->nodes),
		 pod_table_len(d->pods), removed);
	changed(d);
	jput_u64(reply, "removed", removed);
	return 0;
}

bool apply_pod_is_known(const struct daemon *d, const char *ns, const char *name)
{
	return d->agent.synced_once && pod_table_get(d->pods, ns, name);
}
