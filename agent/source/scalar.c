// SPDX-License-Identifier: Apache-2.0
#include "source/scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(text, words[i]))
			return true;
	return false;
}

static const char *skip_set(const char *p, const char *set)
{
	return p + strspn(p, set);
}

#define DIGITS "0123456789"

// [-+]?[0-9]+ | 0o[0-7]+ | 0x[0-9a-fA-F]+. The base, or 0 for anything else.
static int int_base(const char *text)
{
	const char *p = text;

	if (!strncmp(p, "0o", 2) && p[2] && !*skip_set(p + 2, "01234567"))
		return 8;
	if (!strncmp(p, "0x", 2) && p[2] && !*skip_set(p + 2, DIGITS "abcdefABCDEF"))
		return 16;
	if (*p == '-' || *p == '+')
		p++;
	return *p && !*skip_set(p, DIGITS) ? 10 : 0;
}

// [-+]? ( \.[0-9]+ | [0-9]+(\.[0-9]*)? ) ([eE][-+]?[0-9]+)?
static bool is_float(const char *p)
{
	const char *start, *frac;

	if (*p == '-' || *p == '+')
		p++;
	start = p;
	p = skip_set(p, DIGITS);
	if (*p == '.') {
		frac = p + 1;
		p = skip_set(frac, DIGITS);
		if (start == frac - 1 && p == frac)
			return false;
	}
	if (p == start)
		return false;
	if (*p == 'e' || *p == 'E') {
		p++;
		if (*p == '-' || *p == '+')
			p++;
		return *p && !*skip_set(p, DIGITS);
	}
	return !*p;
}

static struct scalar resolve_float(const char *text)
{
	double real = strtod(text, NULL);

	if (!isfinite(real))
		return (struct scalar){.type = SCALAR_STRING};
	return (struct scalar){.type = SCALAR_FLOAT, .real = real};
}

static struct scalar resolve_int(const char *text, int base)
{
	const char *digits = base == 10 ? text : text + 2; // after 0o or 0x
	long long value;
	unsigned long long natural;

	errno = 0;
	value = strtoll(digits, NULL, base);
	if (errno == 0)
		return (struct scalar){.type = SCALAR_INT, .integer = value};
	errno = 0;
	natural = strtoull(digits, NULL, base);
	if (errno == 0 && *text != '-')
		return (struct scalar){.type = SCALAR_UINT, .natural = natural};
	// strtod reads hexadecimal, too, but no octal: that one is a string to us.
	return base == 8 ? (struct scalar){.type = SCALAR_STRING} : resolve_float(text);
}

struct scalar scalar_resolve(const char *text)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
	static const char *const trues[] = {"true", "True", "TRUE"};
	static const char *const falses[] = {"false", "False", "FALSE"};
	int base = int_base(text);

	if (base != 0)
		return resolve_int(text, base);
	if (is_float(text))
		return resolve_float(text);
	if (is_one_of(text, nulls, ARRAY_LEN(nulls)))
		return (struct scalar){.type = SCALAR_NULL};
	if (is_one_of(text, trues, ARRAY_LEN(trues)))
		return (struct scalar){.type = SCALAR_BOOL, .boolean = true};
	if (is_one_of(text, falses, ARRAY_LEN(falses)))
		return (struct scalar){.type = SCALAR_BOOL, .boolean = false};
	return (struct scalar){.type = SCALAR_STRING};
}
