// SPDX-License-Identifier: Apache-2.0
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

// Text goes through a local buffer, since the arguments may point into err->text.
struct text {
	char s[ERR_TEXT_MAX];
	size_t len;
};

static void text_add(struct text *t, const char *s)
{
	size_t room = sizeof(t->s) - 1 - t->len;
	size_t size = strnlen(s, room + 1);

	if (size > room)
		size = utf8_cut(s, room);
	memcpy(t->s + t->len, s, size);
	t->len += size;
	t->s[t->len] = '\0';
}

static void text_format(struct text *t, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
static void text_format(struct text *t, const char *fmt, va_list args)
{
	int n = vsnprintf(t->s, sizeof(t->s), fmt, args);

	if (n < 0)
		n = 0;
	t->len = (size_t)n;
	if (t->len >= sizeof(t->s))
		t->len = utf8_cut(t->s, sizeof(t->s) - 1);
	t->s[t->len] = '\0';
}

static void text_add_errno(struct text *t, int err_no)
{
	char scratch[64];

	if (t->len > 0)
		text_add(t, ": ");
	text_add(t, strerror_r(err_no, scratch, sizeof(scratch)));
}

static void set(struct err *err, unsigned code, int err_no, struct text *t)
{
	if (err_no > 0)
		text_add_errno(t, err_no);
	err->err_no = err_no > 0 ? err_no : 0;
	err->code = code;
	memcpy(err->text, t->s, t->len + 1);
}

static int result_of(int err_no)
{
	return err_no > 0 ? -err_no : -EINVAL;
}

int err_set(struct err *err, int err_no, const char *fmt, ...)
{
	struct text t;
	va_list args;

	if (!err)
		return result_of(err_no);
	va_start(args, fmt);
	text_format(&t, fmt, args);
	va_end(args);
	set(err, 0, err_no, &t);
	return result_of(err_no);
}

int err_set_code(struct err *err, unsigned code, int err_no, const char *fmt, ...)
{
	struct text t;
	va_list args;

	if (!err)
		return result_of(err_no);
	va_start(args, fmt);
	text_format(&t, fmt, args);
	va_end(args);
	set(err, code, err_no, &t);
	return result_of(err_no);
}

int err_wrap(struct err *err, int r, const char *fmt, ...)
{
	struct text t;
	va_list args;

	if (!err)
		return r;
	va_start(args, fmt);
	text_format(&t, fmt, args);
	va_end(args);
	if (err->text[0] != '\0') {
		text_add(&t, ": ");
		text_add(&t, err->text);
	} else if (r < 0) {
		text_add_errno(&t, -r);
	}
	memcpy(err->text, t.s, t.len + 1);
	return r;
}
