// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"

#include <errno.h>
#include <unistd.h>

void cleanup_freep(void *p)
{
	int saved = errno;

	free(*(void **)p);
	errno = saved;
}

void cleanup_closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

void cleanup_fclosep(FILE **f)
{
	int saved = errno;

	if (*f)
		fclose(*f);
	errno = saved;
}

void cleanup_closedirp(DIR **d)
{
	int saved = errno;

	if (*d)
		closedir(*d);
	errno = saved;
}
