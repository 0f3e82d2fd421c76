// SPDX-License-Identifier: Apache-2.0
// Packet code: what happens to each frame of a batch. Set-up is in pipeline.c.
#include <rte_mbuf.h>
#include <string.h>

#include "base/compiler.h"
#include "features/gateway/gateway_stage.h"
#include "features/guard/guard.h"
#include "flow/resolve.h"
#include "main/pipeline_priv.h"
#include "packet/csum.h"
#include "packet/parse.h"

static void drop(struct pipeline *pl, const struct pkt *p, enum drop_reason reason)
{
	counter_drop(pl->c, p->in_port, reason, 1);
}

// A frame of our own back out of the port that p came from. It lies in a pool mbuf until the flush.
static uint8_t *answer_buffer(struct pipeline *pl)
{
	if (pl->answer_count == PKT_BURST)
		pipeline_flush(pl);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pl->pool);
	if (!m)
		return NULL;
	pl->answers[pl->answer_count++] = m;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static void send_answer(struct pipeline *pl, const struct pkt *p, uint8_t *frame, uint32_t len)
{
	static const struct vnet_hdr none;
	output_put(pl->out, p->in_port, frame, len, &none);
}

static void answer_local(struct pipeline *pl, const struct pkt *p)
{
	enum drop_reason reason = DROP_NO_BUFFER;
	uint8_t *buf = answer_buffer(pl);
	uint32_t len = buf ? gateway_answer(p, buf, &reason) : 0;
	if (len > 0)
		send_answer(pl, p, buf, len);
	else
		drop(pl, p, reason);
}

// Drops p and tells its sender, as far as the rate limit lets us.
static void reject(struct pipeline *pl, const struct pkt *p, const struct resolved *r,
		   uint64_t now_ns)
{
	drop(pl, p, r->reason);
	if (!limiter_take(&pl->limiter, p->in_port, now_ns)) {
		counter_add(&pl->c->icmp_limited, 1);
		return;
	}
	uint8_t *buf = answer_buffer(pl);
	if (!buf) {
		counter_add(&pl->c->icmp_limited, 1);
		return;
	}
	uint32_t len = gateway_error(p, (enum build_icmp)r->icmp, r->mtu, buf);
	if (len > 0)
		send_answer(pl, p, buf, len);
}

static void reject_with(struct pipeline *pl, const struct pkt *p, enum drop_reason reason,
			enum build_icmp icmp, uint32_t mtu, uint64_t now_ns)
{
	struct resolved r = {.reason = (uint8_t)reason, .icmp = (uint8_t)icmp, .mtu = mtu};
	reject(pl, p, &r, now_ns);
}

// Longest IP packet that leaves because of p: of a GSO frame, one segment. vnet_check has set
// hdr_len to the end of the L4 header.
static uint32_t wire_size(const struct pkt *p)
{
	if (p->vnet.gso_type != VNET_GSO_NONE)
		return (uint32_t)(p->vnet.hdr_len - p->l3_off) + p->vnet.gso_size;
	return p->len - p->l3_off;
}

static bool may_fragment(const struct pkt *p)
{
	return (p->flags & PKT_F_IPV4) && !(p->data[p->l3_off + 6] & 0x40);
}

static void forward(struct pipeline *pl, struct pkt *p, const struct resolved *r, uint64_t now_ns)
{
	if (r->dec_ttl && p->ttl <= 1) {
		reject_with(pl, p, DROP_TTL, BUILD_TTL_EXCEEDED, 0, now_ns);
		return;
	}
	if (UNLIKELY(wire_size(p) > r->mtu)) {
		if (may_fragment(p)) // counted, not told: the sender did not ask to be told
			drop(pl, p, DROP_TOO_BIG);
		else
			reject_with(pl, p, DROP_TOO_BIG, BUILD_TOO_BIG, r->mtu, now_ns);
		return;
	}
	if (r->dec_ttl)
		csum_dec_ttl(p->data + p->l3_off, p->flags & PKT_F_IPV4);
	memcpy(p->data, r->dst_mac.b, 6);
	memcpy(p->data + 6, r->src_mac.b, 6);
	output_put(pl->out, r->out_port, p->data, p->len, &p->vnet);
}

static void act(struct pipeline *pl, struct pkt *p, const struct resolved *r, uint64_t now_ns)
{
	for (unsigned i = 0; i < r->flow_count; i++)
		counter_add(&r->flows[i]->packets[pl->worker], 1);
	switch ((enum resolved_verdict)r->verdict) {
	case RESOLVED_FORWARD:
		forward(pl, p, r, now_ns);
		return;
	case RESOLVED_LOCAL:
		answer_local(pl, p);
		return;
	case RESOLVED_REJECT:
		reject(pl, p, r, now_ns);
		return;
	case RESOLVED_DROP:
		drop(pl, p, r->reason);
		return;
	}
	drop(pl, p, DROP_UNKNOWN);
}

// The pod's only neighbour is the gateway; what is sent to a group is for the gateway too (ARP, ND)
// or for nobody.
static enum drop_reason check_dst_mac(const struct pkt *p)
{
	if (LIKELY(memcmp(p->data, gateway_mac.b, 6) == 0) || (p->flags & (PKT_F_ARP | PKT_F_ND)))
		return DROP_NONE;
	return p->data[0] & 1 ? DROP_MULTICAST : DROP_NOT_GATEWAY_MAC;
}

static enum drop_reason admit(struct pkt *p)
{
	const struct port *port = port_get(p->in_port);
	if (UNLIKELY(!port))
		return DROP_RX_UNKNOWN_PORT;
	if (UNLIKELY(!atomic_load_explicit(&port->active, memory_order_relaxed)))
		return DROP_PORT_NOT_ACTIVE;
	enum drop_reason r = parse_frame(p);
	if (r == DROP_NONE)
		r = guard_check(port, p);
	if (r == DROP_NONE)
		r = vnet_check(p, PKT_LEN_MAX);
	return r == DROP_NONE ? check_dst_mac(p) : r;
}

// Fills ready[] with what is left to look up; the rest was dropped or answered.
static unsigned admit_burst(struct pipeline *pl, struct pkt *pkts, unsigned n, struct pkt **ready)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < n; i++) {
		struct pkt *p = &pkts[i];
		enum drop_reason r = admit(p);
		if (UNLIKELY(r != DROP_NONE)) {
			drop(pl, p, r);
		} else if (UNLIKELY(p->flags & (PKT_F_ARP | PKT_F_ND))) {
			answer_local(pl, p);
		} else {
			p->hash = key_hash(&p->key, flow_seed());
			emc_prefetch(pl->emc, p->hash);
			ready[kept++] = p;
		}
	}
	return kept;
}

static void decide(struct pipeline *pl, struct pkt *p, uint32_t generation, uint64_t now_ns)
{
	struct resolved *r = emc_lookup(pl->emc, &p->key, p->hash, generation);
	if (LIKELY(r)) {
		counter_add(&pl->c->emc_hits, 1);
		act(pl, p, r, now_ns);
		return;
	}
	struct resolved fresh;
	counter_add(&pl->c->emc_misses, 1);
	resolve_key(&p->key, &fresh);
	r = emc_insert(pl->emc, &p->key, p->hash, generation);
	if (r)
		*r = fresh;
	act(pl, p, &fresh, now_ns);
}

void pipeline_run(struct pipeline *pl, struct pkt *pkts, unsigned n, uint64_t now_ns)
{
	struct pkt *ready[PKT_BURST];
	uint32_t generation = flow_generation();
	unsigned kept = admit_burst(pl, pkts, n < PKT_BURST ? n : PKT_BURST, ready);

	// One pass in order of arrival, hits and misses alike: packets of a flow never overtake.
	for (unsigned i = 0; i < kept; i++)
		decide(pl, ready[i], generation, now_ns);
}

void pipeline_flush(struct pipeline *pl)
{
	output_flush(pl->out);
	rte_pktmbuf_free_bulk(pl->answers, pl->answer_count);
	pl->answer_count = 0;
}
