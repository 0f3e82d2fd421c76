// SPDX-License-Identifier: Apache-2.0
#include "json/jdoc.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/jget.h"

#define DEPTH_MAX 32u

static void tokener_freep(struct json_tokener **tok)
{
	if (*tok)
		json_tokener_free(*tok);
}

static void node_putp(struct json_object **node)
{
	json_object_put(*node);
}

void jdoc_free(struct jdoc *doc)
{
	if (!doc)
		return;
	json_object_put(doc->root);
	free(doc);
}

void jdoc_freep(struct jdoc **doc)
{
	jdoc_free(*doc);
	*doc = NULL;
}

// A pass over the tokens for what json-c lets pass even when strict: an escaped NUL (keys are C
// strings there, it would silently cut one), raw control characters, single quotes, "1.", integers
// beyond 64 bits (they are cut to the limit). What is left for json-c is the grammar around them.
struct scan {
	const char *text;
	size_t len, at;
};

static int bad(const struct scan *s, const char *what, struct err *err)
{
	return err_set(err, 0, "JSON text, byte %zu: %s", s->at, what);
}

static bool is_at(const struct scan *s, const char *chars)
{
	return s->at < s->len && strchr(chars, s->text[s->at]) && s->text[s->at] != '\0';
}

// At a backslash: refuses an escaped NUL, steps to the escaped character (a quote perhaps).
static int scan_escape(struct scan *s, struct err *err)
{
	if (s->len - s->at >= 6 && memcmp(s->text + s->at + 1, "u0000", 5) == 0)
		return bad(s, "NUL character", err);
	s->at++;
	return 0;
}

// From an opening quote to behind the closing one; a missing one is json-c's to report.
static int scan_string(struct scan *s, struct err *err)
{
	for (s->at++; s->at < s->len; s->at++) {
		unsigned char c = (unsigned char)s->text[s->at];
		if (c == '"')
			break;
		if (c < 0x20)
			return bad(s, "control character in a string", err);
		if (c == '\\' && scan_escape(s, err) < 0)
			return -EINVAL;
	}
	s->at++;
	return 0;
}

static size_t scan_digits(struct scan *s)
{
	size_t start = s->at;

	while (is_at(s, "0123456789"))
		s->at++;
	return s->at - start;
}

static bool fits_64_bits(const char *digits, size_t count, bool negative)
{
	uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX, value = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned digit = (unsigned)(digits[i] - '0');
		if (value > (limit - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	return true;
}

static int scan_fraction(struct scan *s, struct err *err)
{
	if (is_at(s, ".")) {
		s->at++;
		if (scan_digits(s) == 0)
			return bad(s, "digit expected", err);
	}
	if (!is_at(s, "eE"))
		return 0;
	s->at++;
	s->at += is_at(s, "+-");
	return scan_digits(s) > 0 ? 0 : bad(s, "digit expected", err);
}

static int scan_number(struct scan *s, struct err *err)
{
	bool negative = is_at(s, "-");

	s->at += negative;
	const char *digits = s->text + s->at;
	size_t count = scan_digits(s);
	if (count == 0)
		return bad(s, "digit expected", err);
	if (count > 1 && digits[0] == '0')
		return bad(s, "number with a leading zero", err);
	if (is_at(s, ".eE"))
		return scan_fraction(s, err);
	return fits_64_bits(digits, count, negative) ? 0 : bad(s, "integer out of range", err);
}

static int scan_text(const char *text, size_t len, struct err *err)
{
	struct scan s = {.text = text, .len = len};
	int r = 0;

	while (s.at < s.len && r == 0) {
		switch (text[s.at]) {
		case '"':
			r = scan_string(&s, err);
			break;
		case '-':
		case '0' ... '9':
			r = scan_number(&s, err);
			break;
		case '\'':
			r = bad(&s, "single quote", err);
			break;
		default:
			s.at++;
		}
	}
	return r;
}

static int check_text(const char *text, size_t len, const struct jlimits *limits, struct err *err)
{
	if (len > limits->bytes || len > INT_MAX)
		return err_set(err, 0, "JSON text of %zu bytes is longer than %zu", len,
			       limits->bytes);
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		return err_set(err, 0, "JSON text begins with a byte order mark");
	if (memchr(text, '\0', len))
		return err_set(err, 0, "JSON text holds a NUL byte");
	// json-c's own check lets surrogates pass.
	if (!utf8_is_valid(text, len))
		return err_set(err, 0, "JSON text is not UTF-8");
	return scan_text(text, len, err);
}

static int check_tree(struct json_object *node, unsigned depth, struct err *err);

static int check_array(struct json_object *node, unsigned depth, struct err *err)
{
	size_t len = json_object_array_length(node);
	int r = 0;

	for (size_t i = 0; i < len && r == 0; i++)
		r = check_tree(json_object_array_get_idx(node, i), depth, err);
	return r;
}

static int check_object(struct json_object *node, unsigned depth, struct err *err)
{
	int r = 0;

	for (struct lh_entry *e = json_object_get_object(node)->head; e && r == 0; e = e->next)
		r = check_tree((struct json_object *)lh_entry_v(e), depth, err);
	return r;
}

// What only the tree shows: NaN, Infinity and overflowing doubles, and one level too many where the
// innermost container is empty. depth: levels that may still be opened; bounds the recursion.
static int check_tree(struct json_object *node, unsigned depth, struct err *err)
{
	enum json_type type = json_object_get_type(node);

	if (type == json_type_double && !isfinite(json_object_get_double(node)))
		return err_set(err, 0, "JSON text holds a number that is not finite");
	if (type != json_type_array && type != json_type_object)
		return 0;
	if (depth == 0)
		return err_set(err, 0, "JSON text is nested too deep");
	return type == json_type_array ? check_array(node, depth - 1, err)
				       : check_object(node, depth - 1, err);
}

// Fills *ret_root (NULL for the document `null`).
static int parse_root(struct json_tokener *tok, const char *text, size_t len,
		      struct json_object **ret_root, struct err *err)
{
	_cleanup_(node_putp) struct json_object *root = json_tokener_parse_ex(tok, text, (int)len);
	enum json_tokener_error e = json_tokener_get_error(tok);

	if (e != json_tokener_success && e != json_tokener_continue)
		return err_set(err, 0, "JSON text, byte %zu: %s", json_tokener_get_parse_end(tok),
			       json_tokener_error_desc(e));
	// A number at the top ends only with the text; the NUL tells.
	if (e == json_tokener_continue) {
		root = json_tokener_parse_ex(tok, "", 1);
		if (json_tokener_get_error(tok) != json_tokener_success)
			return err_set(err, 0, "JSON text ends too early, after %zu bytes", len);
	}
	*ret_root = TAKE_PTR(root);
	return 0;
}

static unsigned depth_of(const struct jlimits *limits)
{
	return limits->depth < DEPTH_MAX ? limits->depth : DEPTH_MAX;
}

int jdoc_parse(const char *text, size_t len, const struct jlimits *limits, struct jdoc **ret_doc,
	       struct err *err)
{
	unsigned depth = depth_of(limits);
	int r = check_text(text, len, limits, err);

	if (r < 0)
		return r;
	// One level more for the values in the innermost container, one for json-c's own count.
	_cleanup_(tokener_freep) struct json_tokener *tok = json_tokener_new_ex((int)depth + 2);
	_cleanup_(jdoc_freep) struct jdoc *doc = calloc(1, sizeof(*doc));
	if (!tok || !doc)
		return err_set(err, ENOMEM, "JSON text");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	r = parse_root(tok, text, len, &doc->root, err);
	if (r == 0)
		r = check_tree(doc->root, depth, err);
	if (r == 0)
		*ret_doc = TAKE_PTR(doc);
	return r;
}
