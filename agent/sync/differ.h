// SPDX-License-Identifier: Apache-2.0
// What weftd should hold beside what it has acknowledged, per object; hands out only the
// difference.
//
//	differ_set(d, "pod/default/web", set_text);
//	n = differ_take(d, max_ops, &text);          "{...},{...}": ops of one apply
//	differ_ack(d);                                the daemon took them all
//
// An op's text is remembered by hash once it is acknowledged: an object that changes and changes
// back before the next take costs nothing, and nothing is sent twice. At most one take is open at a
// time. Every operation is a hash look-up or a list step, except differ_resync. No I/O. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/compiler.h"

struct differ;

// Empty; NULL when memory is short.
struct differ *differ_new(void);
// NULL is nothing.
void differ_free(struct differ *d);
// The object should be as set_text says. Takes the text in any case. 0 or -ENOMEM.
int differ_set(struct differ *d, const char *key, char *set_text) MUST_CHECK;
// The object should not be there. Takes the text in any case. 0 or -ENOMEM.
int differ_del(struct differ *d, const char *key, char *del_text) MUST_CHECK;
// Appends up to max_ops of the waiting ops to out, joined by commas, as far as they fit. The
// number.
size_t differ_take(struct differ *d, size_t max_ops, struct buf *out);
// Ends the open take: the daemon holds it.
void differ_ack(struct differ *d);
// Ends the open take: nothing of it is held, everything waits again.
void differ_nack(struct differ *d);
// Ends the open take of exactly one op, which the daemon refuses: it is not sent again before it
// changes, or before a resync. Writes its key, cut to size.
void differ_refuse(struct differ *d, char *ret_key, size_t size);
// The daemon forgot everything or is about to: all that should be there waits, deletions are moot.
void differ_resync(struct differ *d);
size_t differ_taken(const struct differ *d); // ops of the open take
size_t differ_waiting(const struct differ *d);
size_t differ_len(const struct differ *d); // objects that should be there
