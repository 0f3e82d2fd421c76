// SPDX-License-Identifier: Apache-2.0
#include "main/pipeline.h"

#include <stdlib.h>

#include "flow/flow.h"
#include "main/pipeline_priv.h"

struct pipeline *pipeline_new(const struct pipeline_conf *conf)
{
	struct pipeline *pl = calloc(1, sizeof(*pl));
	if (!pl)
		return NULL;
	pl->worker = conf->worker;
	pl->c = counters_worker(conf->worker);
	pl->pool = conf->pool;
	pl->emc = emc_new(conf->emc_entries, flow_seed() + conf->worker);
	pl->out = output_new(conf->worker, pl->c);
	if (pl->emc && pl->out)
		return pl;
	pipeline_free(pl);
	return NULL;
}

void pipeline_free(struct pipeline *pl)
{
	if (!pl)
		return;
	emc_free(pl->emc);
	output_free(pl->out);
	free(pl);
}

unsigned pipeline_pending(const struct pipeline *pl)
{
	return output_pending(pl->out);
}
