// SPDX-License-Identifier: Apache-2.0
#include "model/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

char *problem_clean(char *text)
{
	char *end = text + strlen(text);

	for (char *p = text; p < end;) {
		size_t len = utf8_seq(p, (size_t)(end - p));

		if (len == 0 || (unsigned char)*p < ' ' || *p == 0x7f) {
			*p = '?';
			len = 1;
		}
		p += len;
	}
	return text;
}

void problem_add(struct problem_list *list, const char *hint, const char *what_fmt, ...)
{
	char what[PROBLEM_TEXT_MAX];
	struct problem p;
	va_list ap;

	va_start(ap, what_fmt);
	(void)vsnprintf(what, sizeof(what), what_fmt, ap);
	va_end(ap);
	p = (struct problem){.what = strdup(problem_clean(what)),
			     .hint = strndup(hint, PROBLEM_TEXT_MAX - 1)};
	if (!p.what || !p.hint || list->count == PROBLEM_LIST_MAX) {
		free(p.what);
		free(p.hint);
		list->more++;
		return;
	}
	problem_clean(p.hint);
	list->at[list->count++] = p;
}

void problem_list_fini(struct problem_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->at[i].what);
		free(list->at[i].hint);
	}
	*list = (struct problem_list){0};
}

bool problem_list_is_equal(const struct problem_list *a, const struct problem_list *b)
{
	if (a->count != b->count || a->more != b->more)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->at[i].what, b->at[i].what) || strcmp(a->at[i].hint, b->at[i].hint))
			return false;
	return true;
}
