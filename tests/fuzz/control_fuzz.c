// SPDX-License-Identifier: Apache-2.0
// needs: dataplane
// Anything a client may send, to a daemon that is whole but for DPDK and packet threads. Afterwards
// the daemon answers, and nothing of the client is left.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "harness/control_world.h"

static struct control_world world;
static bool has_world;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void close_world(void)
{
	control_world_close(&world);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_set_fd(open("/dev/null", O_WRONLY));
	has_world = control_world_open(&world, false) == 0;
	if (has_world)
		atexit(close_world);
	else
		fprintf(stderr, "needs root: nothing is tested\n");
	return 0;
}

// Forgets what the client made of the tables.
static void reset(struct control_client *c)
{
	const char *reply;

	control_client_hello(c, "weft-agent");
	(void)control_client_call(c, "{\"type\":\"begin-sync\"}");
	reply = control_client_call(c, "{\"type\":\"end-sync\"}");
	assert(reply && strncmp(reply, "{\"ok\":true", 10) == 0);
	(void)control_client_call(c, "{\"type\":\"report\",\"synced\":false,\"problems\":[]}");
	assert(node_table_len(world.d->nodes) == 0 && pod_table_len(world.d->pods) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_client c;

	if (!has_world || size < 1 || control_client_open(&world, &c) < 0)
		return 0;
	if (data[0] & 1)
		control_client_hello(&c, data[0] & 2 ? "weft-agent" : "weft");
	control_client_send(&c, (const char *)data + 1, size - 1);
	control_client_send(&c, "\n", 1);
	while (control_client_line(&c))
		;
	control_client_close(&c);
	for (uint16_t id = 0; id < PORT_MAX; id++)
		assert(!attach_by_port(world.d->attach, id));
	if (control_client_open(&world, &c) < 0)
		abort();
	reset(&c);
	control_client_close(&c);
	return 0;
}
