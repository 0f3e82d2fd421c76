// SPDX-License-Identifier: Apache-2.0
// What the files of features/attach share: the table, and the steps that several of them take.
#pragma once

#include "base/map.h"
#include "features/attach/attach.h"
#include "features/attach/ipam.h"
#include "features/attach/journal.h"
#include "features/attach/reaper.h"

// Attachments, by their member pending.
TAILQ_HEAD(attach_list, attachment);

struct attach {
	struct attach_conf conf;
	struct map *by_key; // owns the attachments
	struct attachment *by_id[PORT_MAX];
	uint16_t free_ids[PORT_MAX]; // ring, least recently used first
	unsigned free_head, free_count;
	struct attach_list pending; // not active; unordered
	struct ipam *ipam;
	struct journal *journal;
	struct reaper *reaper;        // NULL: links are deleted by the control thread
	struct journal_report report; // of attach_open
	uint32_t mtu;
	unsigned unknown_links;
	uint64_t retry_ns; // when a stale journal is written again; 0 = not stale
};

// ---- attach.c: the table ----

// NULL: there is none.
struct attachment *attach_find(const struct attach *a, const struct attach_key *key);
// New, in no table. NULL when memory is short.
struct attachment *attach_new(const struct attach_request *request);
void attach_free(struct attachment *at);
// Puts at (with port_id set) into the tables; attach owns it then. 0 or -ENOMEM.
int attach_insert(struct attach *a, struct attachment *at);
// Takes at out of the tables; the caller owns it.
void attach_remove(struct attach *a, struct attachment *at);
// Takes a port id whose host end's index is free too. -ENOSPC: there is none.
int attach_take_id(struct attach *a, uint16_t *ret_id, struct err *err);
void attach_use_id(struct attach *a, uint16_t id);
void attach_give_id(struct attach *a, uint16_t id);
// Closes the port, removes the host end, gives addresses back, writes it down, frees at.
void attach_release(struct attach *a, struct attachment *at);
void attach_set_state(struct attach *a, struct attachment *at, enum attach_state state,
		      uint64_t deadline_ns);
void attach_close_port(struct attach *a, struct attachment *at);
// Opens the port, inactive or active, without a commit.
int attach_open_port(struct attach *a, struct attachment *at, bool active, struct err *err);

// ---- attach_life.c: the end of a wait ----

// The agent did not announce the pod in time.
void attach_wait_failed(struct attach *a, struct attachment *at);

// ---- attach_restore.c ----

// Opens the port of an attachment whose link is there; it was active before, so nobody asks for the
// agent again. When that fails it is gone, and tried again after ATTACH_GONE_NS.
void attach_revive(struct attach *a, struct attachment *at);

// ---- attach_store.c: the journal's lines ----

// Journal callbacks (struct journal_conf); arg is the struct attach.
int attach_store_replay(const char *text, size_t len, void *arg);
int attach_store_snapshot(struct journal *j, void *arg);
// Writes at as it is now. 0, or -errno with code 5.
int attach_store_set(struct attach *a, const struct attachment *at, bool sync, struct err *err);
// Writes that at is gone; it is in no table any more.
void attach_store_del(struct attach *a, const struct attachment *at);

// ---- attach_reserve.c ----

// 0, or an error: no group address, not zero, not the gateway's.
int attach_check_mac(const struct attach *a, const struct macaddr *mac, struct err *err);

// ---- attach_link.c: host ends ----

// Chooses host_name and alias so that no link and no attachment has the name. 0 or -errno.
int attach_link_name(struct attach *a, struct attachment *at, struct err *err);
// 0, or LINK_NOT_FOUND: there is no host end of this index and name.
int attach_link_find(struct attach *a, const struct attachment *at, struct err *err);
// Alias, no ARP, no IPv6 address, up.
int attach_link_setup(struct attach *a, const struct attachment *at, struct err *err);
void attach_link_del(struct attach *a, const struct attachment *at);
