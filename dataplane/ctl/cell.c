// SPDX-License-Identifier: Apache-2.0
#include "cell.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

bool cell_is_number(enum cell_kind kind)
{
	return kind == CELL_COUNT || kind == CELL_BYTES || kind == CELL_RATIO;
}

static bool text_has_family(const char *text, int family)
{
	struct ipprefix p;

	if (family == AF_UNSPEC)
		return true;
	if (ipprefix_parse(text, &p) < 0)
		return false;
	return ipaddr_is_v4(&p.addr) == (family == AF_INET);
}

bool cell_has_family(const struct jval *value, int family)
{
	const char *text = NULL;

	if (jval_type(value) == JTYPE_STRING)
		return jval_string(value, &text, NULL) == 0 && text_has_family(text, family);
	for (size_t i = 0; i < jarray_len(value); i++) {
		struct jval item = jarray_at(value, i);

		if (jval_string(&item, &text, NULL) == 0 && text_has_family(text, family))
			return true;
	}
	return family == AF_UNSPEC;
}

static int format_addrs(const struct jval *value, int family, struct buf *out)
{
	const char *text = NULL;
	size_t start = out->len;
	int r = 0;

	if (jval_string(value, &text, NULL) == 0)
		return buf_addf(out, "%s", text);
	for (size_t i = 0; r == 0 && i < jarray_len(value); i++) {
		struct jval item = jarray_at(value, i);

		if (jval_string(&item, &text, NULL) < 0 || !text_has_family(text, family))
			continue;
		r = buf_addf(out, "%s%s", out->len > start ? "," : "", text);
	}
	return r;
}

static int format_plain(const struct jval *value, struct buf *out)
{
	const char *text = NULL;
	_free_ char *json = NULL;

	if (jval_type(value) == JTYPE_STRING && jval_string(value, &text, NULL) == 0)
		return buf_addf(out, "%s", text);
	json = jval_text(value);
	return json ? buf_addf(out, "%s", json) : -ENOMEM;
}

static int format_object(const struct jval *value, struct buf *out)
{
	size_t start = out->len;
	struct jval member;
	const char *key;
	int r = 0;

	for (void *it = NULL; r == 0 && jobject_next(value, &it, &key, &member);) {
		r = buf_addf(out, "%s%s=", out->len > start ? "," : "", key);
		if (r == 0)
			r = format_plain(&member, out);
	}
	return r;
}

// Three digits and a binary unit, without a space so that the column stays one word.
static int format_bytes(double bytes, struct buf *out)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
		bytes /= 1024;
	return buf_addf(out, unit && bytes < 100 ? "%.1f%s" : "%.0f%s", bytes, units[unit]);
}

// Numbers of JSON as double: exact enough for three digits.
static bool number_of(const struct jval *value, double *ret)
{
	_free_ char *text = NULL;
	char *end;

	if (jval_type(value) != JTYPE_INT && jval_type(value) != JTYPE_DOUBLE)
		return false;
	text = jval_text(value);
	if (!text)
		return false;
	*ret = strtod(text, &end);
	return *end == '\0';
}

int cell_format(enum cell_kind kind, const struct jval *value, int family, struct buf *out)
{
	double number;

	if (jval_is_null(value))
		return 0;
	if (kind == CELL_ADDRS)
		return format_addrs(value, family, out);
	if (kind == CELL_BYTES && number_of(value, &number))
		return format_bytes(number, out);
	if (kind == CELL_RATIO && number_of(value, &number))
		return buf_addf(out, "%.1f%%", number * 100);
	if (jval_type(value) == JTYPE_OBJECT)
		return format_object(value, out);
	return format_plain(value, out);
}

int cell_format_age(uint64_t seconds, struct buf *out)
{
	static const struct {
		uint64_t seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(units) && seconds < units[i].seconds)
		i++;
	if (i + 1 == ARRAY_LEN(units))
		return buf_addf(out, "%" PRIu64 " s", seconds);
	return buf_addf(out, "%" PRIu64 " %s %" PRIu64 " %s", seconds / units[i].seconds,
			units[i].name, seconds % units[i].seconds / units[i + 1].seconds,
			units[i + 1].name);
}
