// SPDX-License-Identifier: Apache-2.0
#include "sync/differ.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/hash.h"
#include "base/map.h"

// Hash of an op, or one of these. A 64-bit collision would keep one stale object until it changes
// again or the next resync; at 10^4 objects its odds are below 10^-11.
#define HASH_NONE 0ull // the object is not there

enum place { PLACE_IDLE, PLACE_WAITING, PLACE_TAKEN };

struct entry {
	TAILQ_ENTRY(entry) link;
	char *text;     // op to send: set, or del when want is HASH_NONE
	uint64_t want;  // what should be there
	uint64_t acked; // what the daemon holds
	uint64_t taken; // what the open take would make it hold
	enum place place;
	bool is_refused; // want was refused by the daemon
	char key[];
};

TAILQ_HEAD(entry_list, entry);

struct differ {
	struct map *entries;
	struct entry_list waiting, taken;
	size_t waiting_count, taken_count, present;
};

static void entry_free(void *value)
{
	struct entry *e = value;

	free(e->text);
	free(e);
}

struct differ *differ_new(void)
{
	struct differ *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	TAILQ_INIT(&d->waiting);
	TAILQ_INIT(&d->taken);
	d->entries = map_new(entry_free);
	if (!d->entries) {
		free(d);
		return NULL;
	}
	return d;
}

void differ_free(struct differ *d)
{
	if (!d)
		return;
	map_free(d->entries);
	free(d);
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text), 0);

	return hash == HASH_NONE ? 1 : hash;
}

static void wait_add(struct differ *d, struct entry *e)
{
	e->place = PLACE_WAITING;
	TAILQ_INSERT_TAIL(&d->waiting, e, link);
	d->waiting_count++;
}

static void wait_remove(struct differ *d, struct entry *e)
{
	e->place = PLACE_IDLE;
	TAILQ_REMOVE(&d->waiting, e, link);
	d->waiting_count--;
}

static void forget(struct differ *d, struct entry *e)
{
	map_del(d->entries, e->key);
}

// Puts the entry where its state says. A taken one is looked at when the take ends. May free it.
static void place(struct differ *d, struct entry *e)
{
	bool should_wait = e->want != e->acked && !e->is_refused;

	if (e->place == PLACE_TAKEN)
		return;
	if (should_wait && e->place == PLACE_IDLE)
		wait_add(d, e);
	else if (!should_wait && e->place == PLACE_WAITING)
		wait_remove(d, e);
	if (e->want == HASH_NONE && e->acked == HASH_NONE)
		forget(d, e);
}

static struct entry *entry_new(struct differ *d, const char *key)
{
	size_t size = strlen(key) + 1;
	struct entry *e = calloc(1, sizeof(*e) + size);

	if (!e)
		return NULL;
	memcpy(e->key, key, size);
	if (map_set(d->entries, key, e) < 0) {
		free(e);
		return NULL;
	}
	return e;
}

static void entry_want(struct differ *d, struct entry *e, uint64_t want, char *text)
{
	d->present += (want != HASH_NONE) - (e->want != HASH_NONE);
	free(e->text);
	e->text = text;
	if (want != e->want)
		e->is_refused = false;
	e->want = want;
	place(d, e);
}

int differ_set(struct differ *d, const char *key, char *set_text)
{
	struct entry *e = map_get(d->entries, key);

	if (!e)
		e = entry_new(d, key);
	if (!e) {
		free(set_text);
		return -ENOMEM;
	}
	entry_want(d, e, hash_text(set_text), set_text);
	return 0;
}

int differ_del(struct differ *d, const char *key, char *del_text)
{
	struct entry *e = map_get(d->entries, key);

	if (!e)
		free(del_text);
	else
		entry_want(d, e, HASH_NONE, del_text);
	return 0;
}

static int append(struct buf *out, const char *text)
{
	size_t start = out->len;
	int r = start > 0 ? buf_add(out, ",", 1) : 0;

	if (r == 0)
		r = buf_add(out, text, strlen(text));
	if (r < 0 && out->data) {
		out->len = start; // no comma without an op
		out->data[start] = '\0';
	}
	return r;
}

size_t differ_take(struct differ *d, size_t max_ops, struct buf *out)
{
	struct entry *e;

	assert(d->taken_count == 0);
	while (d->taken_count < max_ops && (e = TAILQ_FIRST(&d->waiting))) {
		if (append(out, e->text) < 0)
			break;
		wait_remove(d, e);
		e->place = PLACE_TAKEN;
		e->taken = e->want;
		TAILQ_INSERT_TAIL(&d->taken, e, link);
		d->taken_count++;
	}
	return d->taken_count;
}

static struct entry *untake(struct differ *d)
{
	struct entry *e = TAILQ_FIRST(&d->taken);

	if (!e)
		return NULL;
	TAILQ_REMOVE(&d->taken, e, link);
	d->taken_count--;
	e->place = PLACE_IDLE;
	return e;
}

void differ_ack(struct differ *d)
{
	struct entry *e;

	while ((e = untake(d))) {
		e->acked = e->taken;
		place(d, e);
	}
}

void differ_nack(struct differ *d)
{
	struct entry *e;

	while ((e = untake(d)))
		place(d, e);
}

void differ_refuse(struct differ *d, char *ret_key, size_t size)
{
	struct entry *e = untake(d);

	assert(e && d->taken_count == 0);
	(void)snprintf(ret_key, size, "%s", e->key);
	// It may have changed while the daemon looked at it; then the new one gets its chance.
	e->is_refused = e->want == e->taken;
	// A deletion that is refused has nothing to keep it, either.
	if (e->is_refused && e->want == HASH_NONE)
		e->acked = HASH_NONE;
	place(d, e);
}

static int resync_entry(const char *key UNUSED, void *value, void *arg)
{
	struct entry *e = value;

	e->acked = HASH_NONE;
	e->is_refused = false;
	place(arg, e);
	return 0;
}

void differ_resync(struct differ *d)
{
	differ_nack(d);
	map_foreach(d->entries, resync_entry, d);
}

size_t differ_taken(const struct differ *d)
{
	return d->taken_count;
}

size_t differ_waiting(const struct differ *d)
{
	return d->waiting_count;
}

size_t differ_len(const struct differ *d)
{
	return d->present;
}
