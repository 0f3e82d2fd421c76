// SPDX-License-Identifier: Apache-2.0
// The inside of a pipeline, shared by its set-up (pipeline.c) and its packet code (pipeline_run.c).
// Owned by one worker; nothing here is shared between threads.
#pragma once

#include "flow/emc.h"
#include "io/output.h"
#include "main/limiter.h"
#include "main/pipeline.h"

struct rte_mbuf;

struct pipeline {
	unsigned worker;
	struct counters *c;
	struct emc *emc;
	struct output *out;
	struct rte_mempool *pool;
	struct limiter limiter;
	struct rte_mbuf *answers[PKT_BURST]; // frames of our own, freed after the flush
	unsigned answer_count;
};
