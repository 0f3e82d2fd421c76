// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "cmd.h"
#include "json/jput.h"

#define STDIN_WAIT_MS 300 // a runtime has written by then; a person at a terminal never will
#define VERSION_TEXT_MAX 32

// What stdin holds by its end or by the deadline. Nothing of it has to be right.
static void read_some(struct buf *b, uint64_t deadline_ns)
{
	if (isatty(STDIN_FILENO))
		return;
	while (fdio_wait(STDIN_FILENO, POLLIN, deadline_ns) == 0) {
		if (buf_read_some(b, STDIN_FILENO) <= 0)
			return;
	}
}

// The caller's version where it gives one that looks like a version.
static const char *choose(const struct jdoc *doc)
{
	const char *text = "";
	struct jval root = jdoc_root(doc);

	if (jval_type(&root) == JTYPE_OBJECT &&
	    jget_string(&root, "cniVersion", JOPTIONAL | JNOCASE, &text, NULL) == 0 && text[0] &&
	    strlen(text) <= VERSION_TEXT_MAX &&
	    strspn(text, "0123456789.+-abcdefghijklmnopqrstuvwxyz") == strlen(text))
		return text;
	return cni_version_name(CNI_VERSION_1_1_0);
}

int cmd_version(struct cmd_call *call, char **ret_text, struct err *err)
{
	static const struct jlimits limits = {.bytes = CNI_CONF_TEXT_MAX, .depth = 32};
	_cleanup_(buf_fini) struct buf in = BUF_INIT(CNI_CONF_TEXT_MAX);
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	_cleanup_(jput_freep) struct jput *j = jput_new();
	bool parsed;

	read_some(&in, cmd_deadline(call, STDIN_WAIT_MS));
	parsed = in.len > 0 && jdoc_parse(in.data, in.len, &limits, &doc, NULL) == 0;
	jput_object(j, NULL);
	jput_string(j, "cniVersion", parsed ? choose(doc) : cni_version_name(CNI_VERSION_1_1_0));
	jput_array(j, "supportedVersions");
	for (int v = 0; v < CNI_VERSION_COUNT; v++)
		jput_string(j, NULL, cni_version_name((enum cni_version)v));
	jput_end(j);
	jput_end(j);
	*ret_text = jput_take(j);
	return *ret_text ? 0 : err_set(err, ENOMEM, "VERSION");
}
