// SPDX-License-Identifier: Apache-2.0
#include "io/rx_map.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"

// Kernels before 5.11 charge BPF memory to RLIMIT_MEMLOCK: enough for the array and its
// bookkeeping.
#define MEMLOCK_BYTES (16ul << 20)

#define LDX(size, dst, src, offset)                                                     \
	{                                                                               \
		.code = BPF_LDX | BPF_MEM | (size), .dst_reg = (dst), .src_reg = (src), \
		.off = (short)(offset)                                                  \
	}
#define ADD_TO(base, offset, src)                                                         \
	{                                                                                 \
		.code = BPF_STX | BPF_XADD | BPF_DW, .dst_reg = (base), .src_reg = (src), \
		.off = (short)(offset)                                                    \
	}
#define ALU_REG(op, dst, src)                                                        \
	{                                                                            \
		.code = BPF_ALU64 | (op) | BPF_X, .dst_reg = (dst), .src_reg = (src) \
	}
#define ALU_IMM(op, dst, value)                                                    \
	{                                                                          \
		.code = BPF_ALU64 | (op) | BPF_K, .dst_reg = (dst), .imm = (value) \
	}
#define JUMP_IMM(op, dst, value, skip)                                                          \
	{                                                                                       \
		.code = BPF_JMP | (op) | BPF_K, .dst_reg = (dst), .off = (skip), .imm = (value) \
	}
#define JUMP_REG(op, dst, src, skip)                                                              \
	{                                                                                         \
		.code = BPF_JMP | (op) | BPF_X, .dst_reg = (dst), .src_reg = (src), .off = (skip) \
	}
// Address of byte `offset` of the array's element: two instructions.
#define MAP_ADDRESS(dst, fd, offset)        \
	{.code = BPF_LD | BPF_DW | BPF_IMM, \
	 .dst_reg = (dst),                  \
	 .src_reg = BPF_PSEUDO_MAP_VALUE,   \
	 .imm = (fd)},                      \
	{                                   \
		.imm = (int)(offset)        \
	}
#define EXIT                               \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}

enum { R0, R1, R2, R3, R4, R5, R6, R7 };

#define PORT_SHIFT 7 // log2(sizeof(struct rx_map_port))
#define CTX(field) offsetof(struct __sk_buff, field)
#define LANE(field) offsetof(struct rx_map_lane, field)
#define PORT(field) offsetof(struct rx_map_port, field)

static int bpf_call(int cmd, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));
	return r < 0 ? -errno : (int)r;
}

// EPERM on an old kernel may be RLIMIT_MEMLOCK; it is raised once and only then.
static int bpf_call_memlock(int cmd, union bpf_attr *attr)
{
	int r = bpf_call(cmd, attr);
	struct rlimit limit;
	if (r != -EPERM || getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur >= MEMLOCK_BYTES)
		return r;
	limit.rlim_cur = MEMLOCK_BYTES;
	if (limit.rlim_max < MEMLOCK_BYTES)
		limit.rlim_max = MEMLOCK_BYTES;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return r;
	return bpf_call(cmd, attr);
}

static int load(const struct bpf_insn *insns, unsigned count)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = count;
	// No helper of the kernel is called, so no GPL-only one either.
	attr.license = (uintptr_t) "Apache-2.0";
	return bpf_call_memlock(BPF_PROG_LOAD, &attr);
}

// member = ifindex < RX_IFINDEX_MAX ? ports[ifindex].member : 0
static int load_fanout(int map_fd)
{
	const struct bpf_insn insns[] = {
		ALU_IMM(BPF_MOV, R0, 0),
		LDX(BPF_W, R2, R1, CTX(ifindex)),
		JUMP_IMM(BPF_JGT, R2, RX_IFINDEX_MAX - 1, 5),
		MAP_ADDRESS(R3, map_fd, offsetof(struct rx_map, ports)),
		ALU_IMM(BPF_LSH, R2, PORT_SHIFT),
		ALU_REG(BPF_ADD, R3, R2),
		LDX(BPF_W, R0, R3, PORT(member)),
		EXIT,
	};
	return load(insns, ARRAY_LEN(insns));
}

// Frames that the host end itself sent are not ours to receive (kernels before 6.2 show them to a
// fanout group). The rest is counted, or refused by returning 0. Check and add are not one step:
// with n processors the share is overrun by at most n - 1 frames.
static int load_admit(int map_fd, unsigned slot)
{
	const struct bpf_insn insns[] = {
		ALU_IMM(BPF_MOV, R0, 0),
		LDX(BPF_W, R2, R1, CTX(pkt_type)),
		JUMP_IMM(BPF_JEQ, R2, PACKET_OUTGOING, 24),
		LDX(BPF_W, R3, R1, CTX(len)),
		ALU_IMM(BPF_ADD, R3, slot % 2 == RX_LANE_BULK ? RX_COST_BULK : RX_COST_EXPRESS),
		LDX(BPF_W, R2, R1, CTX(ifindex)),
		MAP_ADDRESS(R6, map_fd,
			    offsetof(struct rx_map, lanes) + slot * sizeof(struct rx_map_lane)),
		JUMP_IMM(BPF_JGT, R2, RX_IFINDEX_MAX - 1, 22),
		MAP_ADDRESS(R7, map_fd, offsetof(struct rx_map, ports)),
		ALU_IMM(BPF_LSH, R2, PORT_SHIFT),
		ALU_REG(BPF_ADD, R7, R2),
		LDX(BPF_W, R4, R7, PORT(open)),
		JUMP_IMM(BPF_JEQ, R4, 0, 16),
		// r4 = what the port has waiting
		LDX(BPF_DW, R4, R7, PORT(in)),
		LDX(BPF_DW, R5, R7, PORT(out)),
		ALU_REG(BPF_SUB, R4, R5),
		// r5 = what is free in the lane
		LDX(BPF_DW, R5, R6, LANE(capacity)),
		LDX(BPF_DW, R2, R6, LANE(out)),
		ALU_REG(BPF_ADD, R5, R2),
		LDX(BPF_DW, R2, R6, LANE(in)),
		ALU_REG(BPF_SUB, R5, R2),
		JUMP_REG(BPF_JSGT, R4, R5, 4),
		ADD_TO(R7, PORT(in), R3),
		ADD_TO(R6, LANE(in), R3),
		ALU_IMM(BPF_MOV, R0, -1),
		EXIT,
		// beyond the share
		ALU_IMM(BPF_MOV, R2, 1),
		ADD_TO(R7, PORT(dropped), R2),
		EXIT,
		// no open port
		ALU_IMM(BPF_MOV, R2, 1),
		ADD_TO(R6, LANE(unknown), R2),
		EXIT,
	};
	return load(insns, ARRAY_LEN(insns));
}

static int make_map(struct rx_map_prog *p, struct err *err)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = sizeof(struct rx_map);
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	p->map_fd = bpf_call_memlock(BPF_MAP_CREATE, &attr);
	if (p->map_fd < 0)
		return err_set(err, -p->map_fd, "make an eBPF array that can be mapped");
	void *map =
		mmap(NULL, sizeof(struct rx_map), PROT_READ | PROT_WRITE, MAP_SHARED, p->map_fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, errno, "map the eBPF array");
	p->map = map;
	return 0;
}

static int load_all(struct rx_map_prog *p, unsigned slots, struct err *err)
{
	p->fanout_fd = load_fanout(p->map_fd);
	if (p->fanout_fd < 0)
		return err_set(err, -p->fanout_fd, "load the eBPF program that picks the lane");
	for (unsigned i = 0; i < slots; i++) {
		p->admit_fd[i] = load_admit(p->map_fd, i);
		if (p->admit_fd[i] < 0)
			return err_set(err, -p->admit_fd[i], "load the eBPF program that counts");
	}
	return 0;
}

int rx_map_open(struct rx_map_prog *p, unsigned slots, struct err *err)
{
	*p = (struct rx_map_prog){.map_fd = -1, .fanout_fd = -1};
	for (unsigned i = 0; i < RX_SLOTS_MAX; i++)
		p->admit_fd[i] = -1;
	int r = make_map(p, err);
	if (r == 0)
		r = load_all(p, slots, err);
	if (r < 0)
		rx_map_close(p);
	return r;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void rx_map_close(struct rx_map_prog *p)
{
	if (p->map)
		munmap(p->map, sizeof(struct rx_map));
	p->map = NULL;
	close_fd(&p->map_fd);
	close_fd(&p->fanout_fd);
	for (unsigned i = 0; i < RX_SLOTS_MAX; i++)
		close_fd(&p->admit_fd[i]);
}
