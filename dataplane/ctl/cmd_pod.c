// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "commands.h"
#include "fetch.h"
#include "list.h"

static const struct list_column columns[] = {
	{"NAMESPACE", "namespace", CELL_TEXT, false},
	{"NAME", "name", CELL_TEXT, false},
	{"IFNAME", "ifname", CELL_TEXT, false},
	{"ADDRESSES", "ips", CELL_ADDRS, false},
	{"STATE", "state", CELL_TEXT, false},
	{"PORT", "port", CELL_COUNT, true},
	{"MAC", "mac", CELL_TEXT, true},
	{"MTU", "mtu", CELL_COUNT, true},
	{"RX", "rx_packets", CELL_COUNT, true},
	{"RX-BYTES", "rx_bytes", CELL_BYTES, true},
	{"TX", "tx_packets", CELL_COUNT, true},
	{"TX-BYTES", "tx_bytes", CELL_BYTES, true},
	{"DROPS", "drops", CELL_COUNT, false},
	{"NETWORK", "network", CELL_TEXT, true},
	{"CONTAINER", "container_id", CELL_TEXT, true},
};
static const char *const name_keys[] = {"namespace", "name", NULL};
static const char *const addr_keys[] = {"ips", NULL};
static const struct list_spec spec = {
	.object = "pod",
	.plural = "pods",
	.columns = columns,
	.column_count = ARRAY_LEN(columns),
	.name_keys = name_keys,
	.addr_keys = addr_keys,
};

struct watch {
	const struct ctl *ctl;
	const char *name;
};

static int print_event_json(const struct ctl *ctl, const struct jval *event, struct err *err)
{
	struct jput *j = ctl_document();
	struct jval member;
	const char *key;

	if (!j)
		return err_set(err, ENOMEM, "build an event");
	for (void *it = NULL; jobject_next(event, &it, &key, &member);)
		jput_value(j, key, &member);
	jput_end(j);
	return ctl_print_document(ctl, j, err);
}

static int print_event_text(const struct ctl *ctl, const struct jval *event,
			    const struct jval *item, struct err *err)
{
	static const char *const keys[] = {"namespace", "name", "ifname", "ips", "state"};
	_cleanup_(buf_fini) struct buf line = BUF_INIT(4096);
	const char *kind = NULL;
	struct jval value;
	int r = jget_string(event, "event", JREQUIRED, &kind, err);

	if (r < 0)
		return r;
	r = buf_addf(&line, "%-8s", kind);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(keys); i++) {
		r = jget(item, keys[i], JOPTIONAL, &value, err);
		if (r == 0)
			r = buf_addf(&line, jval_is_null(&value) ? " -" : " ");
		if (r == 0)
			r = cell_format(CELL_ADDRS, &value, ctl->family, &line);
	}
	if (r < 0)
		return err_wrap(err, r, "show an event");
	if (fprintf(ctl->out, "%s\n", line.data) < 0 || fflush(ctl->out) != 0)
		return err_set(err, EIO, "write an event");
	return 0;
}

static int print_event(const struct jval *event, void *arg, struct err *err)
{
	const struct watch *w = arg;
	struct jval item;
	int r = jget_object(event, "item", JREQUIRED, &item, err);

	if (r < 0 || !list_has(w->ctl, &spec, &item, w->name))
		return r;
	if (w->ctl->json)
		return print_event_json(w->ctl, event, err);
	return print_event_text(w->ctl, event, &item, err);
}

static int cmd_pod(const struct ctl *ctl, char *const *args, struct err *err)
{
	struct watch w = {.ctl = ctl};

	if (!args[0] || strcmp(args[0], "watch") != 0)
		return list_run(ctl, &spec, args, err);
	w.name = args[1];
	if (args[1] && args[2])
		return ctl_usage(err, "unknown argument `%s`", args[2]);
	return fetch_watch(ctl, spec.object, print_event, &w, err);
}

const struct command cmd_pod_command = {
	"pod",
	"[list|watch] [NAMESPACE/NAME]",
	"pods attached on this node; watch: one line per change",
	cmd_pod,
};
