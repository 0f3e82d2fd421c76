// SPDX-License-Identifier: Apache-2.0
#include "harness/cm.h"

#include <arpa/inet.h>
#include <string.h>

#include "main/flow_text.h"

static struct ipaddr addr(const char *text)
{
	struct ipaddr a;

	assert_int_equal(ipaddr_parse(text, &a), 0);
	return a;
}

static void set_mask(struct ipaddr *mask, unsigned bits)
{
	memset(mask, 0, sizeof(*mask));
	for (unsigned i = 0; i < bits; i++)
		mask->b[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

static void test_match(void **state)
{
	struct classifier_rule r = {0};
	char text[FLOW_TEXT_MAX];

	(void)state;
	assert_string_equal(flow_text_match(&r, text), "any");
	r.key.dst = addr("10.1.2.0");
	set_mask(&r.mask.dst, 96 + 24);
	assert_string_equal(flow_text_match(&r, text), "dst=10.1.2.0/24");
	set_mask(&r.mask.dst, 96);
	r.key.dst = addr("0.0.0.0");
	assert_string_equal(flow_text_match(&r, text), "dst=0.0.0.0/0");
	r.key.dst = addr("fd00::1");
	set_mask(&r.mask.dst, 128);
	r.key.src = addr("fd00:1::");
	set_mask(&r.mask.src, 64);
	r.key.proto = 6;
	r.mask.proto = 0xff;
	r.key.dport = htons(443);
	r.mask.dport = 0xffff;
	r.key.sport = htons(1);
	r.mask.sport = 0xffff;
	r.key.in_port = 7;
	r.mask.in_port = 0xffff;
	assert_string_equal(flow_text_match(&r, text),
			    "src=fd00:1::/64 dst=fd00::1/128 proto=6 sport=1 dport=443 in_port=7");
}

static void test_action(void **state)
{
	struct resolved d = {.verdict = RESOLVED_FORWARD,
			     .out_port = 3,
			     .mtu = 1450,
			     .dst_mac = {{0x0a, 0x77, 1, 2, 3, 4}}};
	char text[FLOW_TEXT_MAX];

	(void)state;
	assert_string_equal(flow_text_action(&d, text), "forward port=3 mac=0a:77:01:02:03:04 "
							"mtu=1450");
	d.verdict = RESOLVED_REJECT;
	d.reason = DROP_NO_ENDPOINT;
	assert_string_equal(flow_text_action(&d, text), "reject no-endpoint");
	d.verdict = RESOLVED_DROP;
	d.reason = 255;
	assert_string_equal(flow_text_action(&d, text), "drop unknown");
	d.verdict = RESOLVED_LOCAL;
	assert_string_equal(flow_text_action(&d, text), "local");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_action),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
