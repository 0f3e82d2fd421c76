// SPDX-License-Identifier: Apache-2.0
// Runs a decoder on a real message, and on every cut and many changes of it.
#pragma once

#include "harness/cm.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "netlink/link_msg.h"

struct mutate {
	int (*decode)(const struct nlmsghdr *h); // decodes, and looks at the result
	unsigned messages;
};

// On a copy that is exactly as large as its header says, so that a sanitizer sees each step beyond.
static UNUSED void mutate_one(const struct mutate *m, const struct nlmsghdr *h, uint32_t size)
{
	struct nlmsghdr *copy = malloc(size);

	memcpy(copy, h, size);
	copy->nlmsg_len = size;
	int r = m->decode(copy);
	free(copy);
	assert_true(r == 0 || r == -EBADMSG || r == LINK_MSG_SKIP);
}

// A message callback (rtnl_fn); arg is a struct mutate.
static UNUSED int mutate_message(const struct nlmsghdr *h, void *arg)
{
	static const uint8_t values[] = {0, 1, 4, 5, 0x80, 0xff};
	struct mutate *m = arg;
	uint8_t *bytes = malloc(h->nlmsg_len);

	m->messages++;
	memcpy(bytes, h, h->nlmsg_len);
	for (uint32_t size = sizeof(*h); size <= h->nlmsg_len; size++)
		mutate_one(m, h, size);
	for (uint32_t at = sizeof(*h); at < h->nlmsg_len; at++) {
		uint8_t before = bytes[at];
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			bytes[at] = values[v];
			mutate_one(m, (void *)bytes, h->nlmsg_len);
		}
		bytes[at] = before;
	}
	free(bytes);
	return 0;
}
