// SPDX-License-Identifier: Apache-2.0
// A network config from text, for tests.
#pragma once

#include <string.h>

#include "cni_conf.h"

// Parses text as if it had come on stdin. The caller ends conf with cni_conf_fini.
static inline int conf_from_text(struct cni_conf *conf, const char *text, struct err *err)
{
	int r;

	*conf = (struct cni_conf){0};
	conf->text = BUF_INIT(CNI_CONF_TEXT_MAX);
	r = buf_add(&conf->text, text, strlen(text));
	return r < 0 ? r : cni_conf_parse(conf, err);
}
