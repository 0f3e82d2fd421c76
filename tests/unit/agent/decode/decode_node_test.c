// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/decode/collect.h"

#define NODE(rest) "{'kind':'Node','metadata':{'name':'n1'}" rest "}"
#define SPEC(text) NODE(",'spec':" text)
#define STATUS(text) NODE(",'status':" text)
#define ADDRESSES(text) STATUS("{'addresses':" text "}")

// Addresses and ranges joined by blanks, and the number of notes.
static const struct {
	const char *text, *ips, *ranges;
	size_t notes;
} cases[] = {
	{NODE(""), "", "", 0},
	{NODE(",'spec':null,'status':null"), "", "", 0},
	{SPEC("{}"), "", "", 0},
	{SPEC("{'podCIDRs':null,'podCIDR':null}"), "", "", 0},
	{SPEC("{'podCIDRs':[''],'podCIDR':''}"), "", "", 0},
	{SPEC("{'podCIDRs':['10.244.1.0/24','fd00:1::/64'],'podCIDR':'10.244.1.0/24'}"), "",
	 "10.244.1.0/24 fd00:1::/64", 0},
	{SPEC("{'podCIDR':'10.244.1.0/24'}"), "", "10.244.1.0/24", 0},
	{SPEC("{'podCIDRs':['10.244.1.7/24','10.244.1.0/24']}"), "", "10.244.1.0/24", 0},
	{SPEC("{'podCIDRs':['10.244.1.0/33','10.244.1.0/24','x',7,null]}"), "", "10.244.1.0/24", 4},
	{SPEC("{'podCIDRs':['10.244.1.0','0.0.0.0/0','::/0','127.0.0.0/8','224.0.0.0/8']}"), "", "",
	 5},
	{SPEC("{'podCIDRs':['010.244.1.0/24','::ffff:10.0.0.0/120']}"), "", "", 2},
	{SPEC("{'podCIDRs':['10.0.1.0/24','10.0.2.0/24','10.0.3.0/24','10.0.4.0/24','10.0.5.0/24',"
	      "'10.0.6.0/24','10.0.7.0/24','10.0.8.0/24','10.0.9.0/24']}"),
	 "",
	 "10.0.1.0/24 10.0.2.0/24 10.0.3.0/24 10.0.4.0/24 10.0.5.0/24 10.0.6.0/24 10.0.7.0/24 "
	 "10.0.8.0/24",
	 1},
	{STATUS("{}"), "", "", 0},
	{ADDRESSES("null"), "", "", 0},
	{ADDRESSES("[]"), "", "", 0},
	{ADDRESSES("[{'type':'InternalIP','address':'192.0.2.11'},{'type':'InternalIP',"
		   "'address':'2001:db8::11'},{'type':'ExternalIP','address':'203.0.113.1'},"
		   "{'type':'Hostname','address':'n1'}]"),
	 "192.0.2.11 2001:db8::11", "", 0},
	{ADDRESSES("[{'type':'Hostname','address':'n1'}]"), "", "", 0},
	{ADDRESSES("[{'type':'InternalIP','address':'n1'},{'type':'InternalIP','address':''},"
		   "{'type':'InternalIP'},{'type':'InternalIP','address':7},"
		   "{'type':'InternalIP','address':'192.0.2.11'}]"),
	 "192.0.2.11", "", 3},
	{ADDRESSES("[{'type':'InternalIP','address':'127.0.0.1'},{'type':'InternalIP',"
		   "'address':'224.0.0.1'},{'type':'InternalIP','address':'::'}]"),
	 "", "", 3},
	{ADDRESSES("[{'type':'InternalIP','address':'192.0.2.11'},"
		   "{'type':'InternalIP','address':'192.0.2.11'}]"),
	 "192.0.2.11", "", 0},
	{ADDRESSES("[{'address':'192.0.2.11'},{}]"), "", "", 0},
};

static void format_node(const struct node *node, char *ips, char *ranges, size_t size)
{
	char text[IPPREFIX_TEXT_MAX];

	ips[0] = ranges[0] = '\0';
	for (size_t i = 0; i < node->ips.count; i++)
		snprintf(ips + strlen(ips), size - strlen(ips), "%s%s", i ? " " : "",
			 ipaddr_format(&node->ips.at[i], text));
	for (size_t i = 0; i < node->pod_cidr_count; i++)
		snprintf(ranges + strlen(ranges), size - strlen(ranges), "%s%s", i ? " " : "",
			 ipprefix_format(&node->pod_cidrs[i], text));
}

static void test_nodes(void **state)
{
	char ips[512], ranges[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(collected_fini) struct collected c = collect(cases[i].text);

		if (c.count != 1)
			fail_msg("%s: %s", cases[i].text, c.error);
		format_node(&c.objects[0]->node, ips, ranges, sizeof(ips));
		if (strcmp(ips, cases[i].ips) || strcmp(ranges, cases[i].ranges) ||
		    c.notes != cases[i].notes)
			fail_msg("%s: `%s` `%s` %zu notes", cases[i].text, ips, ranges, c.notes);
	}
}

static void test_note_text(void **state)
{
	_cleanup_(collected_fini) struct collected c =
		collect(SPEC("{'podCIDRs':['10.0.0.0/99']}"));

	(void)state;
	assert_string_equal(c.note, "node n1: $.spec.podCIDRs[0]: `10.0.0.0/99` is no pod range");
}

static const struct refused_case refused[] = {
	{SPEC("7"), "$.spec: expected an object"},
	{SPEC("{'podCIDRs':'10.0.0.0/24'}"), "$.spec.podCIDRs: expected an array"},
	{STATUS("[]"), "$.status: expected an object"},
	{ADDRESSES("{}"), "$.status.addresses: expected an array"},
	{ADDRESSES("['192.0.2.11']"), "$.status.addresses[0]: expected an object"},
	{ADDRESSES("[{'type':1}]"), "$.status.addresses[0].type: expected a string"},
};

static void test_refused(void **state)
{
	(void)state;
	check_refused(refused, ARRAY_LEN(refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_note_text),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
