// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cell.h"
#include "commands.h"
#include "fetch.h"
#include "status.h"

static int show(const struct ctl *ctl, const struct jval *row, struct err *err)
{
	struct jput *j;
	struct jval member;
	const char *key;

	if (!ctl->json)
		return status_print(row, ctl->out, err);
	j = ctl_document();
	if (!j)
		return err_set(err, ENOMEM, "build the document");
	for (void *it = NULL; jobject_next(row, &it, &key, &member);)
		if (strcmp(key, "api_version") != 0)
			jput_value(j, key, &member);
	jput_end(j);
	return ctl_print_document(ctl, j, err);
}

struct reply {
	const struct ctl *ctl;
	int rows;
	bool ok;
};

static int show_row(const struct jval *row, void *arg, struct err *err)
{
	struct reply *reply = arg;
	const char *state = NULL;
	int r = jget_string(row, "state", JREQUIRED, &state, err);

	if (r < 0)
		return r;
	if (reply->rows++ > 0)
		return err_set(err, EPROTO, "weftd sent several status rows");
	reply->ok = strcmp(state, "ok") == 0;
	return show(reply->ctl, row, err);
}

// The same document for a reader that cannot be told otherwise: weftd is not there.
static int show_down(const struct ctl *ctl, const char *why, struct err *err)
{
	_cleanup_(jdoc_freep) struct jdoc *doc = status_down(why);
	struct jval row;
	int r;

	if (!doc)
		return err_set(err, ENOMEM, "build the document");
	row = jdoc_root(doc);
	r = show(ctl, &row, err);
	return r < 0 ? r : CTL_UNREACHABLE;
}

static int cmd_status(const struct ctl *ctl, char *const *args, struct err *err)
{
	struct reply reply = {.ctl = ctl};
	struct err why = ERR_INIT;
	int r;

	if (args[0] && (strcmp(args[0], "show") != 0 || args[1]))
		return ctl_usage(err, "unknown argument `%s`", args[args[1] ? 1 : 0]);
	r = fetch_rows(ctl, "status", show_row, &reply, &why);
	if (ctl_exit_status(r) == CTL_UNREACHABLE)
		return show_down(ctl, why.text, err);
	if (r == 0 && reply.rows == 0)
		r = err_set(&why, EPROTO, "weftd sent no status");
	if (r < 0) {
		*err = why;
		return r;
	}
	return reply.ok ? CTL_OK : CTL_FAILED;
}

const struct command cmd_status_command = {
	"status",
	"[show]",
	"is this node's network well, and what is wrong if not",
	cmd_status,
};
