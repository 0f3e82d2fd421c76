// SPDX-License-Identifier: Apache-2.0
// Sends small UDP frames from a packet socket as fast as one core allows, for a bounded time.
//
//	pps_source IFNAME SECONDS SRC_MAC DST_MAC SRC_IP DST_IP [FLOWS]
//
// Frames are 64 bytes on a wire (60 in the socket, the checksum is the wire's). FLOWS source ports
// take turns (default 1). Prints {"sent": N, "refused": N, "seconds": S}.
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ipaddr.h"

#define FRAME_SIZE 60
#define BATCH 64
#define SECONDS_MAX 30
#define FIRST_PORT 20000
#define DST_PORT 9 // discard

struct source {
	uint8_t frames[BATCH][FRAME_SIZE];
	struct iovec iov[BATCH];
	struct mmsghdr msgs[BATCH];
	struct macaddr src_mac, dst_mac;
	struct ipaddr src, dst;
	unsigned flows;
};

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static unsigned ip_checksum(const uint8_t *p, size_t size)
{
	unsigned sum = 0;

	for (size_t i = 0; i < size; i += 2)
		sum += (unsigned)p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16)) & 0xffff;
}

// UDP without a checksum, which IPv4 allows.
static void build_frame(const struct source *s, unsigned flow, uint8_t *f)
{
	uint8_t *ip = f + ETHER_HDR_LEN, *udp = ip + 20;
	uint32_t src = ipaddr_v4(&s->src), dst = ipaddr_v4(&s->dst);

	memcpy(f, s->dst_mac.b, sizeof(s->dst_mac.b));
	memcpy(f + 6, s->src_mac.b, sizeof(s->src_mac.b));
	put16(f + 12, ETHERTYPE_IP);
	ip[0] = 0x45;
	put16(ip + 2, FRAME_SIZE - ETHER_HDR_LEN);
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, &src, sizeof(src));
	memcpy(ip + 16, &dst, sizeof(dst));
	put16(ip + 10, ip_checksum(ip, 20));
	put16(udp, FIRST_PORT + flow);
	put16(udp + 2, DST_PORT);
	put16(udp + 4, FRAME_SIZE - ETHER_HDR_LEN - 20);
}

static void build(struct source *s)
{
	for (unsigned i = 0; i < BATCH; i++) {
		build_frame(s, i % s->flows, s->frames[i]);
		s->iov[i] = (struct iovec){s->frames[i], FRAME_SIZE};
		s->msgs[i].msg_hdr.msg_iov = &s->iov[i];
		s->msgs[i].msg_hdr.msg_iovlen = 1;
	}
}

static int open_socket(const char *ifname)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET};
	_close_ int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int one = 1;

	to.sll_ifindex = (int)if_nametoindex(ifname);
	if (fd < 0 || !to.sll_ifindex ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	return TAKE_FD(fd);
}

static int send_for(struct source *s, int fd, unsigned seconds)
{
	uint64_t start = clock_now_ns(), end = start + seconds * NS_PER_SEC, now = start;
	unsigned long long sent = 0, refused = 0;

	for (; now < end; now = clock_now_ns()) {
		int n = sendmmsg(fd, s->msgs, BATCH, 0);

		if (n > 0)
			sent += (unsigned)n;
		else if (errno == ENOBUFS || errno == EAGAIN)
			refused++;
		else if (errno != EINTR)
			return -1;
	}
	printf("{\"sent\": %llu, \"refused\": %llu, \"seconds\": %.6f}\n", sent, refused,
	       (double)(now - start) / (double)NS_PER_SEC);
	return 0;
}

static unsigned number(const char *text, unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *end || n < 1 || n > max ? 0 : (unsigned)n;
}

int main(int argc, char **argv)
{
	static struct source s;
	_close_ int fd = -1;
	unsigned seconds;

	if (argc < 7 || argc > 8) {
		fprintf(stderr,
			"usage: pps_source IFNAME SECONDS SRC_MAC DST_MAC SRC DST [FLOWS]\n");
		return 2;
	}
	seconds = number(argv[2], SECONDS_MAX);
	s.flows = argc == 8 ? number(argv[7], BATCH) : 1;
	if (!seconds || !s.flows || macaddr_parse(argv[3], &s.src_mac) < 0 ||
	    macaddr_parse(argv[4], &s.dst_mac) < 0 || ipaddr_parse(argv[5], &s.src) < 0 ||
	    ipaddr_parse(argv[6], &s.dst) < 0 || !ipaddr_is_v4(&s.src) || !ipaddr_is_v4(&s.dst)) {
		fprintf(stderr, "pps_source: a bad argument\n");
		return 2;
	}
	build(&s);
	fd = open_socket(argv[1]);
	if (fd < 0 || send_for(&s, fd, seconds) < 0) {
		perror("pps_source");
		return 1;
	}
	return 0;
}
