// SPDX-License-Identifier: Apache-2.0
#include "attachment.h"

#include "base/hash.h"

const char *attachment_hash(const struct attachment *a, char out[ATTACHMENT_HASH_MAX])
{
	const char *const strings[] = {a->network, a->container_id, a->ifname};

	hash_strings_hex(strings, 3, out);
	return out;
}
