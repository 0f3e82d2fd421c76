// SPDX-License-Identifier: Apache-2.0
#include "io/veth_port.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/psock.h"
#include "io/veth_tx.h"
#include "netlink/netns.h"

// Sent frames count against this until the pod's stack has taken them. Doubled by the kernel.
#define VETH_SNDBUF (8 << 20)

static void veth_close(struct port *port)
{
	struct veth_io *io = port->io;
	if (!io)
		return;
	for (unsigned w = 0; w < io->workers; w++)
		if (io->tx[w].fd >= 0)
			close(io->tx[w].fd);
	free(io);
	port->io = NULL;
}

static const struct port_ops veth_ops = {.tx_burst = veth_tx_burst, .close = veth_close};

static int open_tx(struct veth_tx *tx, uint32_t ifindex, struct err *err)
{
	tx->fd = psock_open(err);
	if (tx->fd < 0)
		return tx->fd;
	for (unsigned i = 0; i < PKT_BURST; i++) {
		tx->msgs[i].msg_hdr.msg_iov = &tx->iov[i];
		tx->msgs[i].msg_hdr.msg_iovlen = 1;
	}
	// A link without carrier gets a queueing discipline that drops and reports success
	// (noop_enqueue returns NET_XMIT_CN). Without one the send fails, and the frame is counted.
	int r = psock_set_bypass(tx->fd, err);
	if (r == 0)
		r = psock_set_sndbuf(tx->fd, VETH_SNDBUF, err);
	return r < 0 ? r : psock_bind_tx(tx->fd, ifindex, err);
}

struct open_call {
	struct port *port;
	struct err *err;
};

static int open_all(void *arg)
{
	struct open_call *call = arg;
	struct veth_io *io = call->port->io;
	int r = 0;
	for (unsigned w = 0; w < io->workers && r == 0; w++)
		r = open_tx(&io->tx[w], call->port->ifindex, call->err);
	return r;
}

int veth_port_open(struct port *port, int netns_fd, unsigned workers, struct err *err)
{
	struct open_call call = {port, err};
	struct veth_io *io = calloc(1, sizeof(*io) + workers * sizeof(io->tx[0]));
	if (!io)
		return err_set(err, ENOMEM, "port %s", port->name);
	io->workers = workers;
	for (unsigned w = 0; w < workers; w++)
		io->tx[w].fd = -1;
	port->io = io;
	int r = netns_run(netns_fd, open_all, &call);
	if (r < 0) {
		veth_close(port);
		return err_wrap(err, r, "port %s", port->name);
	}
	port->ops = &veth_ops;
	return 0;
}

bool veth_port_is_peer_down(const struct port *port, const struct veth_tx *tx)
{
	struct ifreq req;
	memset(&req, 0, sizeof(req));
	// Names can change, the index cannot. An interface that is gone says nothing here.
	req.ifr_ifindex = (int)port->ifindex;
	return ioctl(tx->fd, SIOCGIFNAME, &req) == 0 && ioctl(tx->fd, SIOCGIFFLAGS, &req) == 0 &&
	       !(req.ifr_flags & IFF_RUNNING);
}
