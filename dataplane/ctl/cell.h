// SPDX-License-Identifier: Apache-2.0
// One value of a row as text for a person.
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "json/jget.h"

enum cell_kind {
	CELL_TEXT,  // a string, number or boolean as it is; an object as "key=value,key=value"
	CELL_ADDRS, // a string or array of addresses or prefixes, joined by ","
	CELL_COUNT, // a number
	CELL_BYTES, // "1.2MiB"
	CELL_RATIO, // 0.123 as "12.3%"
};

// True for kinds that stand at the right edge of their column.
bool cell_is_number(enum cell_kind kind);
// Appends the text; nothing for null. CELL_ADDRS shows only addresses of family (AF_UNSPEC: all).
// 0, -ENOMEM or -EMSGSIZE.
int cell_format(enum cell_kind kind, const struct jval *value, int family, struct buf *out);
// True where the value holds an address or prefix of the family, or where family is AF_UNSPEC.
bool cell_has_family(const struct jval *value, int family);
// "3 d 4 h", "5 h 6 min", "7 min 8 s", "9 s".
int cell_format_age(uint64_t seconds, struct buf *out);
