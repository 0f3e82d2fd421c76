// SPDX-License-Identifier: Apache-2.0
// Memory of the receive lanes: allocated once by the control thread, so that the code that reads
// frames needs no heap.
#pragma once

#include "io/express_rx.h"
#include "io/hold_rx.h"

// Buffers for one burst of frames of any length, read from fd (borrowed). NULL when memory is
// short.
struct express_rx *rx_buffers_new_express(int fd);
// NULL is nothing.
void rx_buffers_free_express(struct express_rx *e);
// NULL when memory is short.
struct hold_rx *rx_buffers_new_hold(void);
// NULL is nothing.
void rx_buffers_free_hold(struct hold_rx *h);
