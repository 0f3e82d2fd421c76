// SPDX-License-Identifier: Apache-2.0
// needs: dataplane
// Reading a journal back: two copies of any content, and lines that are whole but say anything.
// What comes out must be a state that the daemon could have been in.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fdio.h"
#include "base/log.h"
#include "features/attach/attach.h"
#include "features/attach/ipam.h"
#include "features/attach/journal_read.h"

static char dir[] = "/tmp/weft-fuzz-XXXXXX";
static char state_dir[64], run_dir[64];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean(void)
{
	static const char *const names[] = {"s/journal", "s/journal.bad", "r/journal", "s", "r",
					    ""};
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%.30s/%s", dir, names[i]);
		(void)remove(path);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		abort();
	snprintf(state_dir, sizeof(state_dir), "%.30s/s", dir);
	snprintf(run_dir, sizeof(run_dir), "%.30s/r", dir);
	if (mkdir(state_dir, 0700) < 0 || mkdir(run_dir, 0700) < 0)
		abort();
	log_set_fd(open("/dev/null", O_WRONLY));
	atexit(clean);
	return 0;
}

static void put(const char *folder, const void *data, size_t size)
{
	char path[80];
	int fd, r;

	snprintf(path, sizeof(path), "%s/journal", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	r = fd < 0 ? fd : fdio_write_all(fd, data, size);
	if (r < 0)
		abort();
	close(fd);
}

// Each line of the input becomes a line with its hash, so that its text is looked at.
static void put_lines(const char *folder, const char *text, size_t size)
{
	struct buf b = BUF_INIT(1 << 20);
	uint64_t seq = 0;

	while (size > 0) {
		const char *nl = memchr(text, '\n', size);
		size_t len = nl ? (size_t)(nl - text) : size;
		char *line = strndup(text, len);

		(void)journal_line_format(&b, 1, seq++, line);
		free(line);
		text += len + (nl != NULL);
		size -= len + (nl != NULL);
	}
	put(folder, b.data ? b.data : "", b.len);
	buf_fini(&b);
}

static void check(struct attach *a)
{
	for (uint16_t id = 0; id < PORT_MAX; id++) {
		const struct attachment *at = attach_by_port(a, id);

		if (!at)
			continue;
		assert(at->port_id == id && id >= ATTACH_ID_MIN);
		assert(at->addr_count <= PORT_ADDRS_MAX);
		for (unsigned i = 0; i < at->addr_count; i++)
			assert(ipam_holder(attach_ipam(a), &at->addrs[i]) == at->holder);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct attach_conf conf = {
		.state_dir = state_dir, .run_dir = run_dir, .netns_fd = -1, .mtu = 1450};
	size_t cut = size > 2 ? (size_t)data[1] * size / 256 : 0;
	struct attach *a = NULL;

	if (size < 2)
		return 0;
	if (data[0] & 1) {
		put_lines(state_dir, (const char *)data + 2, size - 2);
		put(run_dir, "", 0);
	} else {
		cut = cut < 2 ? 2 : cut;
		put(state_dir, data + 2, cut - 2);
		put(run_dir, data + cut, size - cut);
	}
	if (attach_open(&conf, &a, NULL) == 0)
		check(a);
	attach_close(a);
	return 0;
}
