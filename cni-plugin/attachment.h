// SPDX-License-Identifier: Apache-2.0
// What names an attachment everywhere: network, container id and interface, and the hash of the
// three that stands in file names, link names and aliases, since an id may be longer than those
// can be.
#pragma once

// Borrowed strings.
struct attachment {
	const char *network;
	const char *container_id;
	const char *ifname;
};

#define ATTACHMENT_HASH_MAX 33 // 32 hex digits and NUL

// Returns out.
const char *attachment_hash(const struct attachment *a, char out[ATTACHMENT_HASH_MAX]);
