// SPDX-License-Identifier: Apache-2.0
// Attachments without a kernel: a table of links in the place of the private namespace, ports that
// are only published, a clock that stands still, and a journal in a temporary folder.
//
// A test that uses it says near its top:
//	// wrap: link_get_by_name link_get_by_index link_foreach link_del link_set clock_now_ns
// One world at a time; one thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "features/attach/attach.h"

#define ATTACH_WORLD_LINKS 64

struct attach_world {
	struct attach *a;
	struct attach_conf conf;
	char dir[64], state[80], run[80];
	uint64_t now_ns;
	struct link_info links[ATTACH_WORLD_LINKS];
	unsigned link_count, link_errors; // the next link_errors requests fail with -EIO
	unsigned opened, closed, commits, added, changed, removed;
	int open_error;   // of the next port_open
	bool pods_known;  // what pod_is_known answers
	uint16_t busy_id; // an id that is not free yet
	unsigned done_calls;
	unsigned done_code; // of the last call, 0 = success
};

extern struct attach_world attach_world;

// Makes the folders and sets conf; standalone and without a range. Asserts on failure.
void attach_world_init(void);
// Opens, restores and sets ranges ("10.244.1.0/24 fd00::/64", "" = leave).
void attach_world_open(const char *ranges);
// Closes as a daemon that is killed: nothing is written, the links stay.
void attach_world_crash(void);
void attach_world_fini(void);
// A link as the CNI binary makes it; NULL alias = none.
void attach_world_add_link(uint32_t ifindex, const char *name, const char *alias);
bool attach_world_has_link(const char *name);
void attach_world_del_link(const char *name);
struct attach_key attach_world_key(const char *id);
// A request for id without anything special.
struct attach_request attach_world_request(const char *id);
// attach_reserve with owner 1. The attachment, or NULL with *ret_err (may be NULL) set.
const struct attachment *attach_world_reserve(const char *id, struct err *ret_err);
// Reserve, make the link, activate; fails the test when anything of it fails.
const struct attachment *attach_world_add(const char *id);
// attach_activate with owner 1 and wait_ms.
int attach_world_activate(const char *id, uint32_t wait_ms, struct err *err);
// First address as text.
const char *attach_world_ip(const struct attachment *at);
