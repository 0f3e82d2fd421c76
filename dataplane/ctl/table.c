// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2 // spaces between columns

struct table {
	const struct table_column *columns;
	size_t column_count;
	char **cells;
	size_t len, cap; // cells
	bool failed;
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	t->column_count = count;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->len; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

void table_freep(struct table **t)
{
	table_free(*t);
	*t = NULL;
}

static bool grow(struct table *t)
{
	size_t cap = t->cap ? t->cap * 2 : 64;
	char **cells;

	if (t->len < t->cap)
		return true;
	cells = reallocarray(t->cells, cap, sizeof(*cells));
	if (!cells)
		return false;
	t->cells = cells;
	t->cap = cap;
	return true;
}

static void mask_controls(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
}

void table_add(struct table *t, const char *text)
{
	char *copy;

	if (!t || t->failed)
		return;
	copy = strdup(text[0] ? text : "-");
	if (!copy || !grow(t)) {
		free(copy);
		t->failed = true;
		return;
	}
	mask_controls(copy);
	t->cells[t->len++] = copy;
}

// Characters, not bytes: continuation bytes of UTF-8 take no column.
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t width = width_of(t->columns[column].title);

	for (size_t i = column; i < t->len; i += t->column_count) {
		size_t w = width_of(t->cells[i]);

		width = w > width ? w : width;
	}
	return width;
}

static void print_cell(const struct table *t, size_t column, size_t width, const char *text,
		       FILE *out)
{
	int pad = (int)(width - width_of(text));

	if (column)
		fprintf(out, "%*s", GAP, "");
	if (t->columns[column].right)
		fprintf(out, "%*s%s", pad, "", text);
	else if (column + 1 < t->column_count)
		fprintf(out, "%s%*s", text, pad, "");
	else
		fputs(text, out);
}

int table_print(const struct table *t, FILE *out, struct err *err)
{
	size_t *widths;

	if (!t || t->failed || !(widths = calloc(t->column_count, sizeof(*widths))))
		return err_set(err, ENOMEM, "build the table");
	for (size_t c = 0; c < t->column_count; c++)
		widths[c] = column_width(t, c);
	for (size_t c = 0; c < t->column_count; c++)
		print_cell(t, c, widths[c], t->columns[c].title, out);
	fputc('\n', out);
	for (size_t i = 0; i + t->column_count <= t->len; i += t->column_count) {
		for (size_t c = 0; c < t->column_count; c++)
			print_cell(t, c, widths[c], t->cells[i + c], out);
		fputc('\n', out);
	}
	free(widths);
	return fflush(out) != 0 || ferror(out) ? err_set(err, EIO, "write the table") : 0;
}
