// SPDX-License-Identifier: Apache-2.0
#include "io/mem_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/counters.h"

// A list cell; the frame that mem_port_take gives away is its last member.
struct mem_cell {
	struct mem_cell *next;
	struct mem_frame *frame;
};

struct mem_io {
	struct mem_cell *first, **last;
	unsigned refuse;
};

static int keep(struct mem_io *io, const struct tx_frame *f)
{
	struct mem_cell *cell = calloc(1, sizeof(*cell));
	struct mem_frame *frame = malloc(sizeof(*frame) + f->len);
	if (!cell || !frame) {
		free(cell);
		free(frame);
		return -ENOMEM;
	}
	frame->len = f->len;
	frame->vnet = f->vnet;
	memcpy(frame->data, f->data, f->len);
	cell->frame = frame;
	*io->last = cell;
	io->last = &cell->next;
	return 0;
}

static unsigned mem_burst(struct port *port, unsigned worker, const struct tx_frame *frames,
			  unsigned n, struct counters *c)
{
	struct mem_io *io = port->io;
	struct port_counters *row = &c->port[port->id];
	unsigned sent = 0;
	(void)worker;
	for (unsigned i = 0; i < n; i++) {
		if (io->refuse > 0) {
			io->refuse--;
			counter_drop(c, port->id, DROP_TX_QUEUE_FULL, 1);
		} else if (keep(io, &frames[i]) < 0) {
			counter_drop(c, port->id, DROP_TX_ERROR, 1);
		} else {
			counter_add(&row->tx_packets, 1);
			counter_add(&row->tx_bytes, frames[i].len);
			sent++;
		}
	}
	return sent;
}

static void mem_close(struct port *port)
{
	struct mem_frame *f;
	if (!port->io)
		return;
	while ((f = mem_port_take(port)))
		free(f);
	free(port->io);
	port->io = NULL;
}

static const struct port_ops mem_ops = {.tx_burst = mem_burst, .close = mem_close};

int mem_port_open(struct port *port)
{
	struct mem_io *io = calloc(1, sizeof(*io));
	if (!io)
		return -ENOMEM;
	io->last = &io->first;
	port->io = io;
	port->ops = &mem_ops;
	return 0;
}

struct mem_frame *mem_port_take(struct port *port)
{
	struct mem_io *io = port->io;
	struct mem_cell *cell = io->first;
	if (!cell)
		return NULL;
	struct mem_frame *frame = cell->frame;
	io->first = cell->next;
	if (!io->first)
		io->last = &io->first;
	free(cell);
	return frame;
}

void mem_port_refuse(struct port *port, unsigned n)
{
	struct mem_io *io = port->io;
	io->refuse = n;
}
