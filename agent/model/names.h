// SPDX-License-Identifier: Apache-2.0
// The name rules of Kubernetes objects (RFC 1123 and the label syntax). Pure predicates; NULL is
// never valid. Used on everything a source hands over, so that names can be used in keys and logs.
#pragma once

#include <stdbool.h>

#define NAMES_LABEL_MAX 63
#define NAMES_SUBDOMAIN_MAX 253
#define NAMES_UID_MAX 128

// "web-1": lower case, digits and '-', starts and ends alphanumeric, at most 63 characters.
bool names_is_label(const char *text);
// "web.example": such labels joined by '.', at most 253 characters together.
bool names_is_subdomain(const char *text);
// Key of a label: [SUBDOMAIN/]NAME, where NAME also allows upper case, '_' and '.'.
bool names_is_label_key(const char *text);
// Value of a label: empty, or like NAME above.
bool names_is_label_value(const char *text);
// A uid as the API server makes it, or empty: at most 128 printable ASCII characters.
bool names_is_uid(const char *text);
