// SPDX-License-Identifier: Apache-2.0
// needs: dataplane
// An offload header (10 bytes) and a frame, as a pod may send them: parser, offload check, ARP and
// ND readers and every builder. What is let through must keep the parser's promises, and what is
// built must be a whole, correct frame that is no occasion for another error.
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "packet/build.h"
#include "packet/csum.h"
#include "packet/parse.h"
#include "unit/dataplane/packet/sound.h"

#define PORT 3
#define MTU 1450
#define PAD 32

static const struct macaddr our_mac = {{2, 0, 0, 0, 1, 1}};

struct input {
	struct vnet_hdr vnet;
	const uint8_t *frame;
	uint32_t len;
};

// A packet in a block of its own that ends with the frame; whatever else was in the descriptor
// before.
static struct pkt load(const struct input *in, uint32_t pad, int fill, uint8_t **ret_block)
{
	struct pkt p;
	uint8_t *block = malloc(PKT_HEADROOM + in->len + pad);

	assert(block != NULL);
	memset(block, 0, PKT_HEADROOM + in->len + pad);
	if (in->len > 0)
		memcpy(block + PKT_HEADROOM, in->frame, in->len);
	memset(&p, fill, sizeof(p));
	p.data = block + PKT_HEADROOM;
	p.len = in->len + pad;
	p.flags = 0;
	p.in_port = PORT;
	p.vnet = in->vnet;
	*ret_block = block;
	return p;
}

// Padding and the descriptor's past must not change what is read.
static void check_again(const struct input *in, const struct pkt *p)
{
	_free_ uint8_t *block = NULL;
	struct pkt q = load(in, PAD, 0xa5, &block);

	assert(parse_frame(&q) == DROP_NONE);
	assert(key_is_equal(&p->key, &q.key) && p->flags == q.flags && p->l4_off == q.l4_off);
	assert((p->flags & PKT_F_ARP) || p->len == q.len);
}

static void check_vnet(struct pkt *p)
{
	const struct vnet_hdr *v = &p->vnet;

	if (vnet_check(p, MTU) != DROP_NONE)
		return;
	assert((v->flags & ~VNET_F_NEEDS_CSUM) == 0);
	if (v->flags) {
		assert(v->csum_start == p->l4_off && (p->flags & PKT_F_L4));
		assert(!(p->flags & PKT_F_FRAG));
		assert((uint32_t)v->csum_start + v->csum_offset + 2 <= p->len);
	}
	if (v->gso_type != VNET_GSO_NONE) {
		assert(v->flags && v->hdr_len > p->l4_off && v->hdr_len < p->len);
		assert(p->proto == IPPROTO_UDP || v->gso_size >= VNET_GSO_SIZE_MIN);
		assert(p->len - v->hdr_len <= VNET_GSO_SEGS_MAX * (uint32_t)v->gso_size);
		assert(v->hdr_len - 14u + v->gso_size <= MTU);
	} else {
		assert(p->len <= MTU + 14);
		if (v->flags)
			csum_complete(p);
	}
}

// A frame that we wrote: whole, with the right sum, and nothing that an error is sent about.
static void check_built(const uint8_t *out, uint32_t len, bool is_error)
{
	struct build_error e = {.kind = BUILD_HOST_UNREACHABLE, .our_mac = our_mac};
	const struct input in = {.frame = out, .len = len};
	_free_ uint8_t *block = NULL, *answer = malloc(BUILD_FRAME_MAX);
	struct pkt p;
	uint16_t field;

	if (len == 0)
		return;
	assert(answer != NULL && len <= BUILD_FRAME_MAX);
	p = load(&in, 0, 0, &block);
	assert(parse_frame(&p) == DROP_NONE && sound_pkt(&p, len) && p.len == len);
	if (p.flags & PKT_F_ARP)
		return;
	memcpy(&field, p.data + p.l4_off + 2, sizeof(field));
	assert((p.flags & PKT_F_L4) && csum_l4(&p) == field);
	e.source = p.key.dst;
	assert(build_echo_reply(&p, &our_mac, answer) == 0);
	assert(!is_error || build_icmp_error(&p, &e, answer) == 0);
}

static void check_neighbours(const struct pkt *p, uint8_t *out)
{
	struct arp_view arp;
	struct nd_view nd;

	if (parse_arp(p, &arp) == DROP_NONE)
		check_built(out, build_arp_reply(&arp, &our_mac, out), false);
	if (parse_nd(p, &nd) == DROP_NONE)
		check_built(out, build_nd_advert(p, &nd, &our_mac, out), false);
}

static void check_icmp(const struct pkt *p, uint8_t *out)
{
	static const struct ipaddr v4 = {{[10] = 0xff, [11] = 0xff, 10, 0, 0, 1}},
				   v6 = {{0xfe, 0x80, [15] = 1}};
	struct build_error e = {.mtu = 1400, .our_mac = our_mac};

	e.source = p->flags & PKT_F_IPV4 ? v4 : v6;
	check_built(out, build_echo_reply(p, &our_mac, out), false);
	for (int kind = BUILD_TTL_EXCEEDED; kind <= BUILD_TOO_BIG; kind++) {
		e.kind = (enum build_icmp)kind;
		check_built(out, build_icmp_error(p, &e, out), true);
	}
}

// The tag that the kernel took out is given by the header length field, which nobody believes
// anyway.
static void check_metadata_tag(const struct input *in)
{
	_free_ uint8_t *block = NULL;
	struct pkt p = load(in, 0, 0, &block);

	p.flags = PKT_F_VLAN;
	p.vlan_tpid = in->vnet.hdr_len & 1 ? 0x8100 : 0x88a8;
	p.vlan_tci = in->vnet.hdr_len & 0xfff0;
	if (parse_frame(&p) == DROP_NONE)
		assert(sound_pkt(&p, in->len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.frame = data + VNET_HDR_LEN};
	_free_ uint8_t *block = NULL, *out = malloc(BUILD_FRAME_MAX);
	struct pkt p;

	if (size < VNET_HDR_LEN || size > PKT_LEN_MAX)
		return 0;
	assert(out != NULL);
	memcpy(&in.vnet, data, VNET_HDR_LEN);
	in.len = (uint32_t)(size - VNET_HDR_LEN);
	check_metadata_tag(&in);
	p = load(&in, 0, 0, &block);
	if (parse_frame(&p) != DROP_NONE)
		return 0;
	assert(sound_pkt(&p, in.len));
	check_again(&in, &p);
	check_neighbours(&p, out);
	check_icmp(&p, out);
	check_vnet(&p);
	return 0;
}
