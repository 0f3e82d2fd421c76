// SPDX-License-Identifier: Apache-2.0
#include "list.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "fetch.h"
#include "table.h"

#define CELL_MAX 4096 // bytes of one cell

struct walk {
	const struct ctl *ctl;
	const struct list_spec *spec;
	const char *name;
	struct table *table;   // text, or
	struct jput *document; // with -j
};

static bool has_family(const struct list_spec *spec, const struct jval *row, int family)
{
	struct jval value;

	if (family == AF_UNSPEC || !spec->addr_keys[0])
		return true;
	for (size_t i = 0; spec->addr_keys[i]; i++)
		if (jget(row, spec->addr_keys[i], JOPTIONAL, &value, NULL) == 0 &&
		    cell_has_family(&value, family))
			return true;
	return false;
}

// Name and last key are compared; the whole name is the values of all keys joined by "/".
static bool has_name(const struct list_spec *spec, const struct jval *row, const char *name)
{
	_cleanup_(buf_fini) struct buf whole = BUF_INIT(CELL_MAX);
	struct jval value;
	size_t last = 0;

	for (size_t i = 0; spec->name_keys[i]; i++) {
		if (i > 0 && buf_addf(&whole, "/") < 0)
			return false;
		last = whole.len;
		if (jget(row, spec->name_keys[i], JOPTIONAL, &value, NULL) < 0 ||
		    cell_format(CELL_TEXT, &value, AF_UNSPEC, &whole) < 0)
			return false;
	}
	return whole.data &&
	       (strcmp(whole.data, name) == 0 || strcmp(whole.data + last, name) == 0);
}

bool list_has(const struct ctl *ctl, const struct list_spec *spec, const struct jval *row,
	      const char *name)
{
	return has_family(spec, row, ctl->family) && (!name || has_name(spec, row, name));
}

static int add_cell(struct walk *w, const struct list_column *c, const struct jval *row,
		    struct err *err)
{
	_cleanup_(buf_fini) struct buf text = BUF_INIT(CELL_MAX);
	struct jval value;
	int r = jget(row, c->key, JOPTIONAL, &value, err);

	if (r < 0)
		return r;
	r = cell_format(c->kind, &value, w->ctl->family, &text);
	if (r == -ENOMEM)
		return err_set(err, ENOMEM, "show `%s`", c->key);
	// A cell past its bound is cut, the rest of the row is still worth reading.
	table_add(w->table, text.data ? text.data : "");
	return 0;
}

static int add_row(const struct jval *row, void *arg, struct err *err)
{
	struct walk *w = arg;
	int r = 0;

	if (!list_has(w->ctl, w->spec, row, w->name))
		return 0;
	if (w->document)
		jput_value(w->document, NULL, row);
	for (size_t i = 0; w->table && r == 0 && i < w->spec->column_count; i++)
		if (w->ctl->stats || !w->spec->columns[i].stats)
			r = add_cell(w, &w->spec->columns[i], row, err);
	return r;
}

static int print_document(struct walk *w, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = ctl_document();
	int r;

	if (!j)
		return err_set(err, ENOMEM, "build the document");
	w->document = j;
	jput_array(j, w->spec->plural);
	r = fetch_rows(w->ctl, w->spec->object, add_row, w, err);
	if (r != 0)
		return r;
	jput_end(j);
	jput_end(j);
	return ctl_print_document(w->ctl, TAKE_PTR(j), err);
}

static int print_table(struct walk *w, struct err *err)
{
	struct table_column columns[LIST_COLUMNS_MAX];
	_cleanup_(table_freep) struct table *t = NULL;
	size_t count = 0;
	int r;

	assert(w->spec->column_count <= LIST_COLUMNS_MAX);
	for (size_t i = 0; i < w->spec->column_count; i++) {
		const struct list_column *c = &w->spec->columns[i];

		if (w->ctl->stats || !c->stats)
			columns[count++] = (struct table_column){c->title, cell_is_number(c->kind)};
	}
	w->table = t = table_new(columns, count);
	r = fetch_rows(w->ctl, w->spec->object, add_row, w, err);
	return r != 0 ? r : table_print(t, w->ctl->out, err);
}

int list_run(const struct ctl *ctl, const struct list_spec *spec, char *const *args,
	     struct err *err)
{
	struct walk w = {.ctl = ctl, .spec = spec};

	if (args[0] && strcmp(args[0], "list") == 0)
		args++;
	w.name = args[0];
	if (args[0] && args[1])
		return ctl_usage(err, "unknown argument `%s`", args[1]);
	if (w.name && !spec->name_keys[0])
		return ctl_usage(err, "%s takes no argument", spec->object);
	return ctl->json ? print_document(&w, err) : print_table(&w, err);
}
