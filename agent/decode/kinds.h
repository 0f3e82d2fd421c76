// SPDX-License-Identifier: Apache-2.0
// The decoders of single kinds and what they share; used by decode.c only. Each fills the part of
// the object that belongs to its kind; the metadata is there already. 0, -EINVAL (err has the JSON
// path) or -ENOMEM.
#pragma once

#include "decode/decode.h"

// Names, uid and labels; every kind has them.
int decode_meta(const struct jval *value, struct object *obj, struct err *err);
// Addresses of type InternalIP and pod ranges.
int decode_node(const struct jval *value, struct object *obj, const struct decode_notes *notes,
		struct err *err);
// Nothing beyond the metadata.
int decode_namespace(const struct jval *value, struct object *obj, const struct decode_notes *notes,
		     struct err *err);
// Node, host network, phase and addresses.
int decode_pod(const struct jval *value, struct object *obj, const struct decode_notes *notes,
	       struct err *err);

// Adds the address text to ips, or a note naming the object and the place when it is no usable
// address or one too many. An empty text is no address, and no mistake either.
void decode_address(const struct jval *text, struct object *obj, struct object_ips *ips,
		    const struct decode_notes *notes);
// A note "KIND NAME: ..." about obj.
void decode_note(const struct decode_notes *notes, const struct object *obj, const char *fmt, ...)
	PRINTF_FORMAT(3, 4);
