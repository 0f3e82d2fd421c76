// SPDX-License-Identifier: Apache-2.0
// Forwards every frame from one host end to the other with nothing but the receive and output
// stages: the ceiling of what the dataplane can reach, to be compared with a kernel bridge.
//
//	io_fwd NETNS_PATH PORT_A PORT_B [lanes|mmsg] [SPIN_US]
//
// Reads until SIGTERM or SIGINT, then prints one JSON object with the counters.
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "io/output.h"
#include "io/rx.h"
#include "io/veth_port.h"
#include "netlink/netns.h"

#define SPIN_US 50

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int index_call(void *arg)
{
	return (int)if_nametoindex(arg);
}

static int open_port(struct rx_group *g, int netns_fd, char *name, uint16_t id, struct err *err)
{
	struct port *port = calloc(1, sizeof(*port));
	if (!port)
		return err_set(err, ENOMEM, "port");
	snprintf(port->name, sizeof(port->name), "%s", name);
	port->id = id;
	port->ifindex = (uint32_t)netns_run(netns_fd, index_call, name);
	int r = veth_port_open(port, netns_fd, 1, err);
	if (r == 0)
		r = port_publish(port);
	return r < 0 ? r : rx_port_add(g, port->ifindex, id, 0);
}

static unsigned forward(struct rx *rx, struct output *out, uint64_t now, struct counters *c)
{
	struct pkt pkts[PKT_BURST];
	unsigned n = rx_burst(rx, pkts, PKT_BURST, now, c);
	for (unsigned i = 0; i < n; i++)
		output_put(out, pkts[i].in_port == 1 ? 2 : 1, pkts[i].data, pkts[i].len,
			   &pkts[i].vnet);
	output_flush(out);
	rx_release(rx);
	return n;
}

static void service(struct rx_group *g, uint64_t now)
{
	struct pollfd fd = {.fd = rx_group_event_fd(g), .events = POLLIN};
	if (poll(&fd, 1, 0) > 0)
		rx_group_service(g, now);
}

static void loop(struct rx_group *g, struct output *out, uint64_t spin_ns, struct counters *c)
{
	struct rx *rx = rx_group_worker(g, 0);
	uint64_t last_work = clock_now_ns(), serviced = 0;
	while (!stop) {
		uint64_t now = clock_now_ns();
		if (forward(rx, out, now, c) > 0)
			last_work = now;
		else if (now - last_work >= spin_ns)
			rx_wait(rx, 1000);
		if (now - serviced > NS_PER_MS) {
			serviced = now;
			service(g, now);
		}
	}
}

static void print_counters(const struct counters *c)
{
	printf("{\"rx\":%lu,\"tx\":%lu", c->port[1].rx_packets + c->port[2].rx_packets,
	       c->port[1].tx_packets + c->port[2].tx_packets);
	for (unsigned r = 0; r < DROP_COUNT; r++) {
		uint64_t n = c->port[0].drops[r] + c->port[1].drops[r] + c->port[2].drops[r];
		if (n > 0)
			printf(",\"%s\":%lu", drop_table[r].name, n);
	}
	puts("}");
}

static int run(char **argv, uint64_t spin_ns, enum rx_mode mode, struct err *err)
{
	struct rx_group *g;
	int netns_fd = netns_open(argv[1], NULL, err);
	if (netns_fd < 0)
		return netns_fd;
	struct rx_conf conf = {.netns_fd = netns_fd, .workers = 1, .mode = mode};
	int r = counters_init(1);
	if (r == 0)
		r = rx_group_open(&conf, &g, err);
	if (r < 0)
		return r;
	r = open_port(g, netns_fd, argv[2], 1, err);
	if (r == 0)
		r = open_port(g, netns_fd, argv[3], 2, err);
	struct output *out = output_new(0, counters_worker(0));
	if (r == 0 && out)
		loop(g, out, spin_ns, counters_worker(0));
	print_counters(counters_worker(0));
	output_free(out);
	rx_group_close(g);
	return r;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	enum rx_mode mode = RX_MODE_AUTO;
	if (argc < 4) {
		fprintf(stderr, "usage: io_fwd NETNS_PATH PORT_A PORT_B [lanes|mmsg] [SPIN_US]\n");
		return 2;
	}
	if (argc > 4)
		mode = strcmp(argv[4], "mmsg") == 0 ? RX_MODE_MMSG : RX_MODE_LANES;
	uint64_t spin_us = argc > 5 ? strtoull(argv[5], NULL, 10) : SPIN_US;
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	(void)prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	if (run(argv, spin_us * NS_PER_US, mode, &err) < 0) {
		fprintf(stderr, "io_fwd: %s\n", err.text);
		return 1;
	}
	return 0;
}
