// SPDX-License-Identifier: Apache-2.0
// What a parsed document is made of. Shared by jget.c and jput.c only; users see json/jget.h.
#pragma once

#include <json-c/json_object.h>

struct jdoc {
	struct json_object *root; // owned; NULL = JSON null
};
