// SPDX-License-Identifier: Apache-2.0
#include "io/psock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "netlink/netns.h"

#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING // linux/if_packet.h before 6.2
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000
#endif

// Where the ring is split into frames does not matter to version 3, but is checked by the kernel.
#define RING_FRAME_BYTES 2048

static int set_option(int fd, int level, int option, const void *value, size_t size,
		      const char *name, struct err *err)
{
	if (setsockopt(fd, level, option, value, (socklen_t)size) < 0)
		return err_set(err, errno, "packet socket: set %s", name);
	return 0;
}

#define SET(fd, level, option, value, err) \
	set_option(fd, level, option, &(value), sizeof(value), #option, err)

int psock_open(struct err *err)
{
	_close_ int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int one = 1;
	if (fd < 0)
		return err_set(err, errno, "open a packet socket");
	int r = SET(fd, SOL_PACKET, PACKET_VNET_HDR, one, err);
	return r < 0 ? r : TAKE_FD(fd);
}

static int open_call(void *arg)
{
	return psock_open(arg);
}

int psock_open_in(int netns_fd, struct err *err)
{
	return netns_run(netns_fd, open_call, err);
}

int psock_set_rcvbuf(int fd, int bytes, struct err *err)
{
	return SET(fd, SOL_SOCKET, SO_RCVBUFFORCE, bytes, err);
}

int psock_set_sndbuf(int fd, int bytes, struct err *err)
{
	return SET(fd, SOL_SOCKET, SO_SNDBUFFORCE, bytes, err);
}

int psock_set_auxdata(int fd, struct err *err)
{
	int one = 1;
	return SET(fd, SOL_PACKET, PACKET_AUXDATA, one, err);
}

int psock_set_bypass(int fd, struct err *err)
{
	int one = 1;
	return SET(fd, SOL_PACKET, PACKET_QDISC_BYPASS, one, err);
}

int psock_refuse_all(int fd, struct err *err)
{
	struct sock_filter refuse = {.code = BPF_RET | BPF_K, .k = 0};
	struct sock_fprog prog = {.len = 1, .filter = &refuse};
	return SET(fd, SOL_SOCKET, SO_ATTACH_FILTER, prog, err);
}

int psock_attach(int fd, int prog_fd, struct err *err)
{
	return SET(fd, SOL_SOCKET, SO_ATTACH_BPF, prog_fd, err);
}

static int bind_to(int fd, uint16_t protocol, uint32_t ifindex, struct err *err)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = (int)ifindex,
	};
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_set(err, errno, "bind a packet socket to interface %u", ifindex);
	return 0;
}

int psock_bind_one(int fd, uint32_t ifindex, struct err *err)
{
	int one = 1;
	int r = SET(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, one, err);
	return r < 0 ? r : bind_to(fd, ETH_P_ALL, ifindex, err);
}

int psock_bind_all(int fd, struct err *err)
{
	return psock_bind_one(fd, 0, err);
}

int psock_bind_tx(int fd, uint32_t ifindex, struct err *err)
{
	return bind_to(fd, 0, ifindex, err);
}

// The kernel finds a free id (PACKET_FANOUT_FLAG_UNIQUEID); the option reads back as what the next
// members have to pass. Kernels before 6.2 store the flag for outgoing frames without acting on it.
int psock_join(int fd, int64_t *group, struct err *err)
{
	int arg = (int)*group;
	if (*group < 0)
		arg = (int)((PACKET_FANOUT_EBPF | PACKET_FANOUT_FLAG_UNIQUEID |
			     PACKET_FANOUT_FLAG_IGNORE_OUTGOING)
			    << 16);
	int r = SET(fd, SOL_PACKET, PACKET_FANOUT, arg, err);
	if (r < 0 || *group >= 0)
		return r;
	socklen_t size = sizeof(arg);
	if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &size) < 0)
		return err_set(err, errno, "packet socket: read PACKET_FANOUT");
	*group = (uint32_t)arg;
	return 0;
}

int psock_set_fanout_prog(int fd, int prog_fd, struct err *err)
{
	return SET(fd, SOL_PACKET, PACKET_FANOUT_DATA, prog_fd, err);
}

int psock_make_ring(int fd, const struct psock_ring_conf *conf, void **ret_mem, struct err *err)
{
	int version = TPACKET_V3;
	size_t bytes = (size_t)conf->block_bytes * conf->block_count;
	struct tpacket_req3 req = {
		.tp_block_size = conf->block_bytes,
		.tp_block_nr = conf->block_count,
		.tp_frame_size = RING_FRAME_BYTES,
		.tp_frame_nr = (unsigned)(bytes / RING_FRAME_BYTES),
		.tp_retire_blk_tov = conf->retire_ms,
	};
	int r = SET(fd, SOL_PACKET, PACKET_VERSION, version, err);
	if (r == 0)
		r = SET(fd, SOL_PACKET, PACKET_RESERVE, conf->reserve, err);
	if (r == 0)
		r = SET(fd, SOL_PACKET, PACKET_RX_RING, req, err);
	if (r < 0)
		return r;
	// Populated: a page fault in the middle of a burst would cost more than the memory.
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (mem == MAP_FAILED)
		return err_set(err, errno, "map a packet ring of %zu bytes", bytes);
	*ret_mem = mem;
	return 0;
}
