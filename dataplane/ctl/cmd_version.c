// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "commands.h"
#include "fetch.h"

static int take_version(const struct jval *row, void *arg, struct err *err)
{
	char **version = arg;
	const char *text = NULL;
	int r = jget_string(row, "version", JREQUIRED, &text, err);

	if (r < 0)
		return r;
	free(*version);
	*version = strdup(text);
	return *version ? 0 : err_set(err, ENOMEM, "read the version");
}

// Our own release is known in any case; the daemon's is null where it does not answer.
static int show(const struct ctl *ctl, const char *weftd, struct err *err)
{
	struct jput *j;

	if (!ctl->json) {
		fprintf(ctl->out, "weftctl  %s\nweftd    %s\n", WEFT_VERSION,
			weftd ? weftd : "does not answer");
		return 0;
	}
	j = ctl_document();
	if (!j)
		return err_set(err, ENOMEM, "build the document");
	jput_string(j, "weftctl", WEFT_VERSION);
	jput_string(j, "weftd", weftd);
	jput_end(j);
	return ctl_print_document(ctl, j, err);
}

static int cmd_version(const struct ctl *ctl, char *const *args, struct err *err)
{
	struct err why = ERR_INIT;
	_free_ char *weftd = NULL;
	int r, shown;

	if (args[0])
		return ctl_usage(err, "unknown argument `%s`", args[0]);
	r = fetch_rows(ctl, "status", take_version, &weftd, &why);
	shown = show(ctl, r < 0 ? NULL : weftd, err);
	if (shown < 0)
		return shown;
	return ctl_exit_status(r);
}

const struct command cmd_version_command = {
	"version",
	"",
	"releases of weftctl and of the running weftd",
	cmd_version,
};
