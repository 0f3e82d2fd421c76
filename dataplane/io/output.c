// SPDX-License-Identifier: Apache-2.0
#include "io/output.h"

#include <stdlib.h>

#include "base/compiler.h"

// Rows of ports that are never used are never touched, so they cost address space only.
struct output_row {
	unsigned count;
	struct tx_frame frames[PKT_BURST];
};

struct output {
	unsigned worker;
	unsigned pending;
	unsigned dirty_count;
	struct counters *c;
	uint16_t dirty[PORT_MAX]; // ports with frames, in the order of their first frame
	struct output_row rows[PORT_MAX];
};

struct output *output_new(unsigned worker, struct counters *c)
{
	struct output *o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->worker = worker;
	o->c = c;
	return o;
}

void output_free(struct output *o)
{
	free(o);
}

static void send_row(struct output *o, uint16_t port_id, struct output_row *row)
{
	struct port *port = port_get(port_id);
	unsigned n = row->count;
	row->count = 0;
	o->pending -= n;
	if (LIKELY(port))
		port->ops->tx_burst(port, o->worker, row->frames, n, o->c);
	else
		counter_drop(o->c, port_id, DROP_TX_NO_PORT, n);
}

void output_put(struct output *o, uint16_t port, uint8_t *data, uint32_t len,
		const struct vnet_hdr *vnet)
{
	if (UNLIKELY(port >= PORT_MAX)) {
		counter_drop(o->c, 0, DROP_TX_NO_PORT, 1);
		return;
	}
	struct output_row *row = &o->rows[port];
	if (row->count == PKT_BURST)
		send_row(o, port, row); // stays in the dirty list
	else if (row->count == 0)
		o->dirty[o->dirty_count++] = port;
	row->frames[row->count++] = (struct tx_frame){.data = data, .len = len, .vnet = *vnet};
	o->pending++;
}

void output_flush(struct output *o)
{
	for (unsigned i = 0; i < o->dirty_count; i++)
		send_row(o, o->dirty[i], &o->rows[o->dirty[i]]);
	o->dirty_count = 0;
}

unsigned output_pending(const struct output *o)
{
	return o->pending;
}
