// SPDX-License-Identifier: Apache-2.0
#include "io/hold_rx.h"

#include <string.h>

#include "base/compiler.h"

bool hold_put(struct hold_rx *h, const struct rx_frame *f)
{
	if (h->count == 0)
		h->first = h->end = h->used = 0;
	size_t need = (PKT_HEADROOM + f->len + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	if (h->end == HOLD_FRAMES || need > HOLD_BYTES - h->used)
		return false;
	uint8_t *data = h->mem + h->used + PKT_HEADROOM;
	memcpy(data - VNET_HDR_LEN, f->data - VNET_HDR_LEN, VNET_HDR_LEN + f->len);
	h->frames[h->end] = *f;
	h->frames[h->end].data = data;
	h->used += need;
	h->end++;
	h->count++;
	return true;
}

unsigned hold_count(const struct hold_rx *h)
{
	return h->count;
}

unsigned hold_take(struct hold_rx *h, bool (*is_ready)(void *arg, uint32_t ifindex), void *arg,
		   struct rx_frame *frames, unsigned max)
{
	unsigned n = 0;
	for (unsigned i = h->first; i < h->end && n < max; i++) {
		struct rx_frame *f = &h->frames[i];
		if (!f->data || !is_ready(arg, f->ifindex))
			continue;
		frames[n++] = *f;
		f->data = NULL;
	}
	while (h->first < h->end && !h->frames[h->first].data)
		h->first++;
	h->count -= n;
	return n;
}
