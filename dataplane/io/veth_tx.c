// SPDX-License-Identifier: Apache-2.0
#include "io/veth_tx.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"

// What an error of the send call means for the frame it was reported for, and for those behind it.
enum veth_scope {
	SCOPE_FRAME, // this frame only
	SCOPE_REST,  // a state of the link: all that are left
	SCOPE_FULL,  // ENOBUFS: the peer is down, or its queue is full
	SCOPE_RETRY, // once more, then this frame
};

struct veth_error {
	int err_no;
	enum drop_reason reason;
	enum veth_scope scope;
};

static const struct veth_error veth_errors[] = {
	{ENOBUFS, DROP_TX_QUEUE_FULL, SCOPE_FULL}, {EAGAIN, DROP_TX_QUEUE_FULL, SCOPE_RETRY},
	{EMSGSIZE, DROP_TX_TOO_BIG, SCOPE_FRAME},  {EINVAL, DROP_TX_BAD_FRAME, SCOPE_FRAME},
	{ENETDOWN, DROP_TX_LINK_DOWN, SCOPE_REST}, {ENXIO, DROP_TX_LINK_GONE, SCOPE_REST},
	{ENODEV, DROP_TX_LINK_GONE, SCOPE_REST},
};

static const struct veth_error veth_error_other = {0, DROP_TX_ERROR, SCOPE_FRAME};

// One burst on its way.
struct veth_burst {
	struct port *port;
	struct veth_tx *tx;
	struct counters *c;
	unsigned n, at; // frames; the next one to send
	unsigned full;  // frames that met ENOBUFS and are not counted yet
	bool retried, asked;
};

static void prepare(struct veth_tx *tx, const struct tx_frame *frames, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t *head = frames[i].data - VNET_HDR_LEN;
		memcpy(head, &frames[i].vnet, VNET_HDR_LEN);
		tx->iov[i].iov_base = head;
		tx->iov[i].iov_len = frames[i].len + VNET_HDR_LEN;
	}
}

// Frames sent, or -1 with errno of the first one. One frame costs less by sendmsg.
static int send_some(struct veth_tx *tx, unsigned at, unsigned n)
{
	if (n > 1 && LIKELY(!tx->single)) {
		int r = sendmmsg(tx->fd, &tx->msgs[at], n, MSG_DONTWAIT);
		if (r >= 0 || errno != ENOSYS)
			return r;
		tx->single = true;
	}
	return sendmsg(tx->fd, &tx->msgs[at].msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
}

static void drop(struct veth_burst *b, enum drop_reason reason, unsigned n)
{
	counter_drop(b->c, b->port->id, reason, n);
}

static void drop_rest(struct veth_burst *b, enum drop_reason reason)
{
	drop(b, reason, b->n - b->at);
	b->at = b->n;
}

// The peer is up: its queue was full for these.
static void settle_full(struct veth_burst *b)
{
	drop(b, DROP_TX_QUEUE_FULL, b->full);
	b->full = 0;
}

// One more frame is tried before the link is asked; a link without carrier gets no further try.
static void meet_full(struct veth_burst *b)
{
	b->at++;
	b->full++;
	if (b->asked || (b->full < 2 && b->at < b->n))
		return;
	b->asked = true;
	if (!veth_port_is_peer_down(b->port, b->tx))
		return;
	drop(b, DROP_TX_PEER_DOWN, b->full);
	b->full = 0;
	drop_rest(b, DROP_TX_PEER_DOWN);
}

static const struct veth_error *find_error(int err_no)
{
	for (unsigned i = 0; i < ARRAY_LEN(veth_errors); i++)
		if (veth_errors[i].err_no == err_no)
			return &veth_errors[i];
	return &veth_error_other;
}

static void meet_error(struct veth_burst *b, int err_no)
{
	const struct veth_error *e = find_error(err_no);
	switch (e->scope) {
	case SCOPE_FULL:
		meet_full(b);
		return;
	case SCOPE_REST:
		if (e->reason == DROP_TX_LINK_GONE)
			atomic_store_explicit(&b->port->link_gone, true, memory_order_relaxed);
		drop_rest(b, e->reason);
		return;
	case SCOPE_RETRY:
		if (!b->retried) {
			b->retried = true;
			return;
		}
		break;
	case SCOPE_FRAME:
		break;
	}
	drop(b, e->reason, 1);
	b->at++;
}

// Every turn sends, drops, or uses up the one retry: at most n + 1 calls.
static unsigned send_burst(struct veth_burst *b)
{
	struct port_counters *row = &b->c->port[b->port->id];
	unsigned sent = 0;
	while (b->at < b->n) {
		int r = send_some(b->tx, b->at, b->n - b->at);
		if (UNLIKELY(r <= 0)) {
			meet_error(b, r < 0 ? errno : EAGAIN);
			continue;
		}
		uint64_t bytes = 0;
		for (unsigned i = b->at; i < b->at + (unsigned)r; i++)
			bytes += b->tx->iov[i].iov_len - VNET_HDR_LEN;
		counter_add(&row->tx_packets, (unsigned)r);
		counter_add(&row->tx_bytes, bytes);
		sent += (unsigned)r;
		b->at += (unsigned)r;
		if (UNLIKELY(b->full > 0))
			settle_full(b);
	}
	if (UNLIKELY(b->full > 0))
		settle_full(b);
	return sent;
}

unsigned veth_tx_burst(struct port *port, unsigned worker, const struct tx_frame *frames,
		       unsigned n, struct counters *c)
{
	struct veth_io *io = port->io;
	unsigned sent = 0;
	if (worker >= io->workers) {
		counter_drop(c, port->id, DROP_TX_ERROR, n);
		return 0;
	}
	for (unsigned at = 0; at < n; at += PKT_BURST) {
		unsigned part = n - at < PKT_BURST ? n - at : PKT_BURST;
		struct veth_burst b = {.port = port, .tx = &io->tx[worker], .c = c, .n = part};
		prepare(b.tx, frames + at, part);
		sent += send_burst(&b);
	}
	return sent;
}
