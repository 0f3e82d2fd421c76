// SPDX-License-Identifier: Apache-2.0
// Scope-bound release of memory, descriptors and streams by __attribute__((cleanup)).
//
//	_free_ char *name = NULL;       freed when the scope ends
//	_close_ int fd = -1;            closed when the scope ends (-1 is nothing)
//	return TAKE_PTR(name);          ownership leaves the scope
//
// Every helper accepts the empty value (NULL, -1) and keeps errno.
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"

// Frees *p, a pointer to a pointer from malloc.
void cleanup_freep(void *p);
// Closes *fd unless it is negative.
void cleanup_closep(int *fd);
// Closes the stream *f unless it is NULL.
void cleanup_fclosep(FILE **f);
// Closes the directory *d unless it is NULL.
void cleanup_closedirp(DIR **d);

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _free_ _cleanup_(cleanup_freep)
#define _close_ _cleanup_(cleanup_closep)
#define _fclose_ _cleanup_(cleanup_fclosep)
#define _closedir_ _cleanup_(cleanup_closedirp)

#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) _taken = (p); \
		(p) = NULL;                 \
		_taken;                     \
	})

#define TAKE_FD(fd)                \
	({                         \
		int _taken = (fd); \
		(fd) = -1;         \
		_taken;            \
	})
