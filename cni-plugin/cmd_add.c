// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd.h"
#include "daemon.h"
#include "ipam.h"
#include "podlink.h"
#include "release.h"
#include "spool.h"
#include "undo.h"

LOG_MODULE("add");

// Without weftd an ADD fails within 5 s: that long to find it, and to hear from it.
#define CONNECT_MS 3500
#define ATTACH_MS 4500
#define ACTIVATE_MS 2500 // beyond the wait for the agent
#define UNDO_MS 700
#define DELEGATE_DEL_MS 10000
#define LINK_TRIES 3

// One ADD on its way.
struct add {
	struct cmd_call *call;
	struct attachment id;
	struct client *client;
	struct podlink link;
	struct ipam_lease lease;
	struct daemon_grant grant;
	uint64_t delegate_ns; // time that was the delegate's
	struct undo undo;
};

static void undo_delegate(void *arg)
{
	struct add *add = arg;
	struct err err = ERR_INIT;

	if (ipam_call(&add->call->args, &add->call->conf, "DEL", DELEGATE_DEL_MS, &err) < 0)
		LOG_ERR("addresses stay taken", "text=\"%s\"", err.text);
}

static void undo_attach(void *arg)
{
	struct add *add = arg;
	struct err err = ERR_INIT;

	if (daemon_detach(add->client, &add->id, clock_deadline_ns(UNDO_MS), NULL, NULL) == 0)
		return;
	// A reservation dies with its connection; what was activated has to be asked for.
	daemon_closep(&add->client);
	if (release_attachment(&add->call->conf, &add->id, clock_deadline_ns(UNDO_MS), &err) < 0)
		LOG_ERR("attachment stays in weftd", "text=\"%s\"", err.text);
}

static void undo_link(void *arg)
{
	struct add *add = arg;
	struct err err = ERR_INIT;

	if (podlink_remove(&add->link, &err) < 0)
		LOG_ERR("interface stays in the pod", "text=\"%s\"", err.text);
}

// A DEL of the same container may wait in the spool (a container that is stopped and started
// keeps its id). Left there, it would take the new attachment away when weftd starts next.
static int settle_spool(struct add *add, struct err *err)
{
	const char *run_dir = add->call->conf.run_dir;
	int r;

	if (!spool_has(run_dir, &add->id))
		return 0;
	r = daemon_detach(add->client, &add->id, cmd_deadline(add->call, ATTACH_MS), NULL, err);
	return r < 0 ? r : spool_remove(run_dir, &add->id, err);
}

static int take_lease(struct add *add, struct err *err)
{
	struct cmd_call *call = add->call;
	uint64_t begin = clock_now_ns();
	bool unsure = false;
	int r;

	if (!ipam_is_used(&call->conf))
		return 0;
	r = ipam_add(&call->args, &call->conf, &add->lease, &unsure, err);
	if (r == 0 || unsure)
		undo_add(&add->undo, undo_delegate, add);
	add->delegate_ns = clock_now_ns() - begin;
	return r;
}

// What stands in the config beats what stands in CNI_ARGS.
static struct daemon_want make_want(const struct add *add)
{
	const struct cni_conf *conf = &add->call->conf;
	const struct cni_args *args = &add->call->args;
	bool delegated = add->lease.ips.count > 0;

	return (struct daemon_want){
		.netns = args->netns,
		.pod_namespace = args->pod_namespace,
		.pod_name = args->pod_name,
		.pod_uid = args->pod_uid,
		.ips = delegated	 ? &add->lease.ips :
		       conf->ips.count > 0 ? &conf->ips :
					     &args->ips,
		.delegated = delegated,
		.mac = conf->has_mac ? &conf->mac : args->has_mac ? &args->mac : NULL,
		.mtu = conf->mtu,
	};
}

static int attach(struct add *add, struct err *err)
{
	struct daemon_want want = make_want(add);
	uint64_t deadline = cmd_deadline(add->call, ATTACH_MS) + add->delegate_ns;
	int r;

	daemon_grant_fini(&add->grant);
	r = daemon_attach(add->client, &add->id, &want, deadline, &add->grant, err);
	if (r == 0)
		undo_add(&add->undo, undo_attach, add);
	return r;
}

// The names that weftd chose may be taken in the kernel by then: it chooses others.
static int attach_link(struct add *add, struct err *err)
{
	size_t mark = add->undo.len;

	for (int i = 0; i < LINK_TRIES; i++) {
		int r = attach(add, err);

		if (r == 0)
			r = podlink_make(&add->link, &add->grant, err);
		if (r == 0)
			undo_add(&add->undo, undo_link, add);
		if (r != PODLINK_TAKEN)
			return r;
		LOG_DEBUG("host end is taken", "name=%s index=%u", add->grant.host_ifname,
			  add->grant.host_ifindex);
		undo_run_to(&add->undo, mark);
		if (!add->client)
			break;
	}
	return err_set_code(err, CNI_CODE_LINK, EEXIST, "host end `%s` (index %u)",
			    add->grant.host_ifname, add->grant.host_ifindex);
}

static int activate(struct add *add, struct err *err)
{
	const struct cni_args *args = &add->call->args;
	unsigned wait_ms = 0;

	// Only a pod that the agent can know is waited for.
	if (args->pod_namespace && args->pod_name)
		wait_ms = add->call->conf.add_timeout_s * 1000 + 1;
	return daemon_activate(add->client, &add->id, wait_ms,
			       clock_deadline_ns(wait_ms + ACTIVATE_MS), err);
}

static int open_all(struct add *add, struct err *err)
{
	const struct cni_args *args = &add->call->args;
	int r = podlink_open(&add->link, args->netns, args->ifname, args->netns_override, err);

	if (r == 0)
		r = podlink_require_free(&add->link, err);
	if (r == 0)
		r = daemon_open(add->call->conf.run_dir, cmd_deadline(add->call, CONNECT_MS), true,
				&add->client, err);
	return r;
}

static int build(struct add *add, struct err *err)
{
	int r = open_all(add, err);

	if (r == 0)
		r = settle_spool(add, err);
	if (r == 0)
		r = take_lease(add, err);
	if (r == 0)
		r = attach_link(add, err);
	if (r == 0)
		r = podlink_setup(&add->link, &add->grant, err);
	if (r == 0)
		r = activate(add, err);
	return r;
}

static char *make_text(const struct add *add)
{
	const struct cni_conf *conf = &add->call->conf;
	const struct cni_result result = {
		.version = conf->version,
		.ifname = add->id.ifname,
		.sandbox = add->call->args.netns,
		.mac = add->grant.mac,
		.mtu = add->grant.mtu,
		.ips = add->grant.ips,
		.gateways = add->grant.gateways,
		.prev = conf->prev_result,
		.dns = jval_is_null(&conf->dns) ? add->lease.dns : conf->dns,
	};

	return cni_result_text(&result);
}

static int run(struct add *add, char **ret_text, struct err *err)
{
	int r = build(add, err);
	char *text = NULL;

	if (r == 0) {
		text = make_text(add);
		if (!text)
			r = err_set(err, ENOMEM, "result");
	}
	if (r < 0) {
		undo_run(&add->undo);
		return r;
	}
	undo_forget(&add->undo);
	podlink_wait_running(&add->link);
	*ret_text = text;
	return 0;
}

int cmd_add(struct cmd_call *call, char **ret_text, struct err *err)
{
	struct add add = {.call = call,
			  .id = cmd_attachment(call),
			  .link = PODLINK_INIT,
			  .grant = {.netns_fd = -1}};
	int r = cni_conf_load_add(&call->conf, err);

	if (r == 0)
		r = run(&add, ret_text, err);
	if (r == 0)
		LOG_INFO("attached", "id=%s ifname=%s host=%s", add.id.container_id, add.id.ifname,
			 add.grant.host_ifname);
	daemon_closep(&add.client);
	daemon_grant_fini(&add.grant);
	ipam_lease_fini(&add.lease);
	podlink_fini(&add.link);
	return r;
}
