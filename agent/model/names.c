// SPDX-License-Identifier: Apache-2.0
#include "model/names.h"

#include <stddef.h>
#include <string.h>

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

// One dot-free part of a name: alphanumeric at both ends, '-' allowed between.
static bool is_part(const char *text, size_t len)
{
	if (len == 0 || !is_lower_alnum(text[0]) || !is_lower_alnum(text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_lower_alnum(text[i]) && text[i] != '-')
			return false;
	return true;
}

bool names_is_label(const char *text)
{
	size_t len = text ? strnlen(text, NAMES_LABEL_MAX + 1) : 0;

	return len <= NAMES_LABEL_MAX && len > 0 && is_part(text, len);
}

static bool is_subdomain_n(const char *text, size_t len)
{
	if (len == 0 || len > NAMES_SUBDOMAIN_MAX)
		return false;
	for (const char *end = text + len; text <= end;) {
		const char *dot = memchr(text, '.', (size_t)(end - text));
		size_t part = (size_t)((dot ? dot : end) - text);

		if (!is_part(text, part))
			return false;
		text += part + 1;
	}
	return true;
}

bool names_is_subdomain(const char *text)
{
	return text && is_subdomain_n(text, strnlen(text, NAMES_SUBDOMAIN_MAX + 1));
}

static bool is_qualified(const char *text)
{
	size_t len = strnlen(text, NAMES_LABEL_MAX + 1);

	if (len == 0 || len > NAMES_LABEL_MAX || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

bool names_is_label_key(const char *text)
{
	const char *slash = text ? strchr(text, '/') : NULL;

	if (!text)
		return false;
	if (!slash)
		return is_qualified(text);
	return is_subdomain_n(text, (size_t)(slash - text)) && is_qualified(slash + 1);
}

bool names_is_label_value(const char *text)
{
	return text && (!*text || is_qualified(text));
}

bool names_is_uid(const char *text)
{
	if (!text || strnlen(text, NAMES_UID_MAX + 1) > NAMES_UID_MAX)
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}
