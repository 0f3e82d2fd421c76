// SPDX-License-Identifier: Apache-2.0
#include "main/daemon_events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/counters.h"
#include "core/rcu.h"
#include "main/netconf.h"

#define REAP_FIRST_MS 20 // a worker passes a quiescent state many times in that
#define REAP_AGAIN_MS 1000
#define REAP_ROUNDS 2
#define SERVICE_MS 1000
#define SERVICE_QUIET 15 // rounds without traffic after which the service rests

LOG_MODULE("daemon");

static void arm_ms(struct event *timer, uint64_t ms)
{
	const struct timeval tv = {.tv_sec = (time_t)(ms / 1000),
				   .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

	event_add(timer, &tv);
}

// ---- timers ----

void daemon_rearm(struct daemon *d)
{
	uint64_t due = attach_deadline(d->attach), now = clock_now_ns();

	if (!d->due)
		return;
	if (due == UINT64_MAX)
		event_del(d->due);
	else
		arm_ms(d->due, due > now ? (due - now) / NS_PER_MS + 1 : 0);
	if (d->reap_rounds == 0)
		arm_ms(d->reap, REAP_FIRST_MS);
	d->reap_rounds = REAP_ROUNDS;
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)fd;
	(void)what;
	attach_tick(d->attach, clock_now_ns());
	daemon_rearm(d);
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)fd;
	(void)what;
	rcu_reap();
	if (--d->reap_rounds > 0)
		arm_ms(d->reap, REAP_AGAIN_MS);
}

static uint64_t count_packets(const struct daemon *d)
{
	uint64_t n = 0;

	for (unsigned w = 0; w < d->options.workers; w++)
		n += atomic_load_explicit(&counters_worker(w)->burst_packets, memory_order_relaxed);
	return n;
}

static void on_service(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	uint64_t seen = count_packets(d);

	(void)fd;
	(void)what;
	rx_group_service(d->rx, clock_now_ns());
	d->service_idle = seen == d->service_seen ? d->service_idle + 1 : 0;
	d->service_seen = seen;
	if (d->service_idle < SERVICE_QUIET)
		arm_ms(d->service, SERVICE_MS);
}

// A worker asks for the control thread; from here on there is traffic.
static void on_rx(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)fd;
	(void)what;
	rx_group_service(d->rx, clock_now_ns());
	d->service_idle = 0;
	arm_ms(d->service, SERVICE_MS);
}

// ---- links ----

static void repair_host_port(struct daemon *d)
{
	struct err err = ERR_INIT;
	uint32_t index = hostnet_peer_index(d->hostnet);
	int r = hostnet_repair(d->hostnet, &err);

	if (r == 0 && hostnet_peer_index(d->hostnet) != index)
		r = err_set(&err, 0, "the host port has another index; restart weftd");
	if (r == 0)
		r = ports_change(d->ports, DAEMON_HOST_PORT, hostnet_mac(d->hostnet), d->net.mtu,
				 &err);
	if (r < 0)
		LOG_ERR("host port cannot be made again", "why=%s", err.text);
	else
		LOG_WARN("host port was deleted and is made again", "interface=%s",
			 d->options.host_if);
	// Routes went with the interface, and flows name its MAC.
	d->net.stale = true;
	netconf_update(d);
}

static bool is_host_port_gone(const struct daemon *d)
{
	struct link_info info;

	return link_get_by_index(hostnet_private_rtnl(d->hostnet), hostnet_peer_index(d->hostnet),
				 &info, NULL) == LINK_NOT_FOUND;
}

static void on_link(const struct monitor_event *event, void *arg)
{
	struct daemon *d = arg;

	if (event->kind == MONITOR_RESYNC) {
		attach_resync(d->attach);
		if (is_host_port_gone(d))
			repair_host_port(d);
	} else if (event->kind == MONITOR_LINK_DEL) {
		if (event->link.ifindex == hostnet_peer_index(d->hostnet)) {
			if (is_host_port_gone(d))
				repair_host_port(d);
		} else {
			attach_link_gone(d->attach, event->link.ifindex);
		}
	}
}

static void on_monitor(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;
	int r = monitor_read(d->monitor);

	(void)fd;
	(void)what;
	if (r < 0)
		LOG_ERR_LIMIT("link events cannot be read", "why=%s", strerror(-r));
	daemon_rearm(d);
}

static void on_spool(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)fd;
	(void)what;
	spool_run(d->spool);
	daemon_rearm(d);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct daemon *d = arg;

	(void)what;
	LOG_INFO("signal", "number=%d", (int)sig);
	event_base_loopbreak(d->base);
}

// ---- set-up ----

static int watch(struct daemon *d, int fd, event_callback_fn fn, struct event **ret)
{
	*ret = event_new(d->base, fd, EV_READ | EV_PERSIST, fn, d);
	return *ret && event_add(*ret, NULL) == 0 ? 0 : -ENOMEM;
}

static int catch (struct daemon *d, int sig, struct event **ret)
{
	*ret = evsignal_new(d->base, sig, on_signal, d);
	return *ret && event_add(*ret, NULL) == 0 ? 0 : -ENOMEM;
}

static int open_timers(struct daemon *d)
{
	d->due = event_new(d->base, -1, 0, on_due, d);
	d->reap = event_new(d->base, -1, 0, on_reap, d);
	d->service = event_new(d->base, -1, 0, on_service, d);
	return d->due && d->reap && d->service ? 0 : -ENOMEM;
}

static int open_events(struct daemon *d)
{
	int r = open_timers(d);

	if (r == 0)
		r = watch(d, spool_fd(d->spool), on_spool, &d->spool_event);
	if (r == 0)
		r = watch(d, monitor_fd(d->monitor), on_monitor, &d->monitor_event);
	if (r == 0)
		r = watch(d, rx_group_event_fd(d->rx), on_rx, &d->rx_event);
	if (r == 0)
		r = catch (d, SIGTERM, &d->signals[0]);
	if (r == 0)
		r = catch (d, SIGINT, &d->signals[1]);
	return r;
}

int daemon_events_open(struct daemon *d, struct err *err)
{
	int r;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	d->base = event_base_new();
	if (!d->base)
		return err_set(err, ENOMEM, "event loop");
	r = monitor_open(hostnet_netns(d->hostnet), on_link, d, &d->monitor, err);
	if (r < 0)
		return r;
	r = open_events(d);
	if (r < 0)
		return err_set(err, -r, "event loop");
	// What vanished between the restore and the monitor's first event.
	attach_resync(d->attach);
	return 0;
}

void daemon_events_close(struct daemon *d)
{
	struct event **const events[] = {&d->due,         &d->reap,      &d->service,
					 &d->spool_event, &d->rx_event,  &d->monitor_event,
					 &d->signals[0],  &d->signals[1]};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (*events[i])
			event_free(*events[i]);
		*events[i] = NULL;
	}
	monitor_close(d->monitor);
	d->monitor = NULL;
	if (d->base)
		event_base_free(d->base);
	d->base = NULL;
}
