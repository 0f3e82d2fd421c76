// SPDX-License-Identifier: Apache-2.0
#include "main/flow_text.h"

#include <arpa/inet.h>
#include <stdio.h>

#define V4_BITS 96 // of the stored form stand before an IPv4 address

static unsigned mask_len(const struct ipaddr *mask)
{
	unsigned n = 0;

	for (int i = 0; i < 16; i++)
		n += (unsigned)__builtin_popcount(mask->b[i]);
	return n;
}

static size_t put_prefix(char *out, size_t size, const char *name, const struct ipaddr *addr,
			 const struct ipaddr *mask)
{
	unsigned len = mask_len(mask);
	struct ipprefix p = {.addr = *addr, .len = (uint8_t)len};
	char text[IPPREFIX_TEXT_MAX];

	if (len == 0)
		return 0;
	if (ipaddr_is_v4(addr) && len >= V4_BITS)
		p.len = (uint8_t)(len - V4_BITS);
	return (size_t)snprintf(out, size, " %s=%s", name, ipprefix_format(&p, text));
}

static size_t put_number(char *out, size_t size, const char *name, unsigned value, unsigned mask)
{
	return mask ? (size_t)snprintf(out, size, " %s=%u", name, value & mask) : 0;
}

const char *flow_text_match(const struct classifier_rule *rule, char out[FLOW_TEXT_MAX])
{
	const struct flow_key *k = &rule->key, *m = &rule->mask;
	const size_t size = FLOW_TEXT_MAX - 1;
	size_t len = 0;
	char text[FLOW_TEXT_MAX] = " any";

	len += put_prefix(text + len, size - len, "src", &k->src, &m->src);
	len += put_prefix(text + len, size - len, "dst", &k->dst, &m->dst);
	len += put_number(text + len, size - len, "proto", k->proto, m->proto);
	len += put_number(text + len, size - len, "sport", ntohs(k->sport), ntohs(m->sport));
	len += put_number(text + len, size - len, "dport", ntohs(k->dport), ntohs(m->dport));
	len += put_number(text + len, size - len, "in_port", k->in_port, m->in_port);
	snprintf(out, FLOW_TEXT_MAX, "%s", text + 1);
	return out;
}

const char *flow_text_action(const struct resolved *decision, char out[FLOW_TEXT_MAX])
{
	unsigned reason = decision->reason < DROP_COUNT ? decision->reason : DROP_UNKNOWN;
	char mac[MACADDR_TEXT_MAX];

	switch ((enum resolved_verdict)decision->verdict) {
	case RESOLVED_FORWARD:
		snprintf(out, FLOW_TEXT_MAX, "forward port=%u mac=%s mtu=%u", decision->out_port,
			 macaddr_format(&decision->dst_mac, mac), decision->mtu);
		break;
	case RESOLVED_DROP:
		snprintf(out, FLOW_TEXT_MAX, "drop %s", drop_table[reason].name);
		break;
	case RESOLVED_REJECT:
		snprintf(out, FLOW_TEXT_MAX, "reject %s", drop_table[reason].name);
		break;
	case RESOLVED_LOCAL:
		snprintf(out, FLOW_TEXT_MAX, "local");
		break;
	}
	return out;
}
