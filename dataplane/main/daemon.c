// SPDX-License-Identifier: Apache-2.0
#include "main/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "core/counters.h"
#include "core/rcu.h"
#include "features/gateway/gateway.h"
#include "flow/flow.h"
#include "main/apply.h"
#include "main/control.h"
#include "main/daemon_events.h"
#include "main/eal.h"
#include "main/netconf.h"
#include "main/notify.h"
#include "main/worker.h"

#define SPIN_NS (50 * NS_PER_US) // longer than the gap between two frames of a busy pod
#define EMC_ENTRIES 8192
#define COUNTER_FILE_MAX 32

LOG_MODULE("daemon");

// ---- folders ----

static int take_lock(const char *dir, int *ret_fd, struct err *err)
{
	char path[OPTIONS_PATH_MAX + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/lock", dir);
	fd = fdio_lock_file(path);
	if (fd == -EWOULDBLOCK)
		return err_set(err, 0, "another weftd is running on `%s`", dir);
	if (fd < 0)
		return err_set(err, -fd, "lock `%s`", path);
	*ret_fd = fd;
	return 0;
}

static int open_folders(struct daemon *d, struct err *err)
{
	const struct options *o = &d->options;
	int r = fdio_mkdir_private(o->run_dir, 0700, err);

	if (r == 0)
		r = take_lock(o->run_dir, &d->locks[0], err);
	if (r == 0)
		r = fdio_mkdir_private(o->state_dir, 0700, err);
	if (r == 0)
		r = take_lock(o->state_dir, &d->locks[1], err);
	return r;
}

// How often weftd was started again on this state-dir. Only for people, so errors do not matter.
static void count_start(struct daemon *d)
{
	_cleanup_(buf_fini) struct buf b = BUF_INIT(COUNTER_FILE_MAX);
	char path[OPTIONS_PATH_MAX + 16], text[COUNTER_FILE_MAX];
	struct err err = ERR_INIT;
	uint64_t starts = 0;

	snprintf(path, sizeof(path), "%s/restarts", d->options.state_dir);
	if (buf_read_file(&b, path) == 0 && b.data && b.data[0] >= '0' && b.data[0] <= '9')
		starts = strtoull(b.data, NULL, 10) + 1;
	d->restarts = starts;
	snprintf(text, sizeof(text), "%" PRIu64 "\n", starts);
	if (fdio_replace_file(path, text, strlen(text), 0600, &err) < 0)
		LOG_WARN("restart counter is not kept", "why=%s", err.text);
}

// ---- what attachments need of the rest ----

static int op_port_open(void *arg, struct port *port, const char *cookie, struct err *err)
{
	return ports_open(((struct daemon *)arg)->ports, port, cookie, err);
}

static void op_port_close(void *arg, uint16_t id)
{
	ports_close(((struct daemon *)arg)->ports, id);
}

static bool op_id_is_free(void *arg, uint16_t id)
{
	return ports_is_free(((struct daemon *)arg)->ports, id);
}

static int op_port_mac(void *arg, uint16_t id, const struct macaddr *mac, struct err *err)
{
	const struct port *port = port_get(id);

	return ports_change(((struct daemon *)arg)->ports, id, mac, port ? port->mtu : 0, err);
}

static void op_commit(void *arg)
{
	(void)arg;
	flow_commit();
}

static bool op_pod_is_known(void *arg, const char *ns, const char *name)
{
	return apply_pod_is_known(arg, ns, name);
}

static void op_changed(void *arg, enum attach_event event, const struct attachment *at)
{
	static const char *const names[] = {[ATTACH_ADDED] = "added",
					    [ATTACH_CHANGED] = "changed",
					    [ATTACH_REMOVED] = "removed"};

	control_pod_event(arg, names[event], at);
}

static const struct attach_ops attach_ops = {
	.port_open = op_port_open,
	.port_close = op_port_close,
	.id_is_free = op_id_is_free,
	.port_mac = op_port_mac,
	.commit = op_commit,
	.pod_is_known = op_pod_is_known,
	.changed = op_changed,
};

// ---- building ----

static int open_dpdk(struct daemon *d, struct err *err)
{
	const struct eal_conf ec = {
		.workers = d->options.workers,
		.hugepages = d->options.hugepages,
		.run_dir = d->options.run_dir,
		.log_level = d->options.log_level,
	};
	uint64_t seed;
	int r = eal_start(&ec, err);

	if (r < 0)
		return r;
	d->dpdk_runs = true;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return err_set(err, errno, "random seed");
	r = rcu_init(d->options.workers);
	if (r == 0)
		r = counters_init(d->options.workers);
	if (r == 0)
		r = flow_init(seed);
	return r < 0 ? err_set(err, -r, "packet tables") : 0;
}

int daemon_open_net(struct daemon *d, struct err *err)
{
	struct hostnet_conf hc = {
		.netns = d->options.netns,
		.host_if = d->options.host_if,
		.mtu = d->net.mtu,
		.gateway_mac = gateway_mac,
	};
	struct rx_conf rc = {.workers = d->options.workers, .mode = d->options.rx};
	struct ports_conf pc = {.workers = d->options.workers};
	int r;

	gateway_link_local(true, &hc.gateways[0]);
	gateway_link_local(false, &hc.gateways[1]);
	r = hostnet_open(&hc, &d->hostnet, err);
	if (r < 0)
		return r;
	rc.netns_fd = pc.netns_fd = hostnet_netns(d->hostnet);
	r = rx_group_open(&rc, &d->rx, err);
	if (r < 0)
		return r;
	pc.rx = d->rx;
	d->ports = ports_new(&pc);
	return d->ports ? netconf_open_host_port(d, err) : err_set(err, ENOMEM, "ports");
}

static void on_spooled(const struct attach_key *key, void *arg)
{
	struct daemon *d = arg;

	(void)attach_detach(d->attach, key);
}

// The spool goes first: what was deleted meanwhile is not opened again.
int daemon_open_state(struct daemon *d, struct err *err)
{
	const struct attach_conf ac = {
		.state_dir = d->options.state_dir,
		.run_dir = d->options.run_dir,
		.rtnl = hostnet_private_rtnl(d->hostnet),
		.netns_fd = hostnet_netns(d->hostnet),
		.standalone = d->options.standalone,
		.mtu = d->net.mtu,
		.gateway_mac = gateway_mac,
		.ops = &attach_ops,
		.ops_arg = d,
	};
	int r;

	d->nodes = node_table_new();
	d->pods = pod_table_new();
	if (!d->nodes || !d->pods)
		return err_set(err, ENOMEM, "tables");
	r = attach_open(&ac, &d->attach, err);
	if (r == 0)
		r = spool_open(d->options.run_dir, on_spooled, d, &d->spool, err);
	if (r < 0)
		return r;
	spool_run(d->spool);
	r = attach_restore(d->attach, err);
	if (r == 0)
		netconf_update(d);
	return r;
}

static int open_workers(struct daemon *d, struct err *err)
{
	const struct worker_conf wc = {
		.workers = d->options.workers,
		.rx = d->rx,
		.spin_ns = SPIN_NS,
		.emc_entries = EMC_ENTRIES,
	};
	int r = workers_start(&wc, err);

	d->workers_run = true; // also after half a start
	return r;
}

static int open_server(struct daemon *d, struct err *err)
{
	struct server_conf sc = {
		.base = d->base,
		.path = d->socket_path,
		.uid = 0,
		.line = control_line,
		.closed = control_closed,
		.arg = d,
	};

	snprintf(d->socket_path, sizeof(d->socket_path), "%s/weftd.sock", d->options.run_dir);
	return server_open(&sc, &d->server, err);
}

static int open_all(struct daemon *d, struct err *err)
{
	int (*const steps[])(struct daemon * d, struct err * err) = {
		open_folders, open_dpdk,          daemon_open_net, daemon_open_state,
		open_workers, daemon_events_open, open_server,
	};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		int r = steps[i](d, err);

		if (r < 0)
			return r;
	}
	return 0;
}

// Each port takes a descriptor per worker and each client one.
static void raise_limits(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
}

int daemon_open(const struct options *options, struct daemon **ret_daemon, struct err *err)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_set(err, ENOMEM, "daemon");
	d->options = *options;
	d->locks[0] = d->locks[1] = -1;
	d->start_ns = clock_now_ns();
	d->agent.event_age_s = -1;
	d->net.mtu = options->mtu ? options->mtu : NETCONF_MTU_DEFAULT;
	if (d->options.workers == 0)
		d->options.workers = eal_default_workers();
	(void)gethostname(d->node_name, sizeof(d->node_name) - 1);
	raise_limits();
	r = open_all(d, err);
	if (r < 0) {
		daemon_close(d);
		return r;
	}
	count_start(d);
	*ret_daemon = d;
	return 0;
}

void daemon_close(struct daemon *d)
{
	bool dpdk_runs = d && d->dpdk_runs;

	if (!d)
		return;
	server_close(d->server); // reservations die with their connections
	d->server = NULL;
	if (d->workers_run)
		workers_stop();
	daemon_events_close(d);
	spool_close(d->spool);
	attach_close(d->attach);
	ports_free(d->ports);
	rx_group_close(d->rx);
	hostnet_close(d->hostnet);
	node_table_free(d->nodes);
	pod_table_free(d->pods);
	free(d->agent.problems);
	flow_fini();
	counters_fini();
	rcu_fini();
	cleanup_closep(&d->locks[0]);
	cleanup_closep(&d->locks[1]);
	free(d);
	if (dpdk_runs)
		eal_stop();
}

int daemon_run(struct daemon *d, struct err *err)
{
	LOG_INFO("ready", "version=%s socket=%s workers=%u pods=%u restarts=%" PRIu64, WEFT_VERSION,
		 d->socket_path, d->options.workers, ports_count(d->ports) - 1, d->restarts);
	notify_state("READY=1");
	daemon_rearm(d);
	if (event_base_dispatch(d->base) < 0)
		return err_set(err, EIO, "event loop");
	notify_state("STOPPING=1");
	LOG_INFO("stopping", "pods=%u", ports_count(d->ports) - 1);
	return 0;
}
