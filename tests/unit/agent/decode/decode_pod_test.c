// SPDX-License-Identifier: Apache-2.0
#include "unit/agent/decode/collect.h"

#define POD(rest) "{'kind':'Pod','metadata':{'name':'a'}" rest "}"
#define SPEC(text) POD(",'spec':" text)
#define STATUS(text) POD(",'status':" text)

static const struct {
	const char *text, *node, *ips;
	enum pod_phase phase;
	bool host_network;
	size_t notes;
} cases[] = {
	{POD(""), "", "", POD_PENDING, false, 0},
	{POD(",'spec':null,'status':null"), "", "", POD_PENDING, false, 0},
	{SPEC("{'nodeName':'n1','hostNetwork':true,'containers':[{'name':'c'}]}"), "n1", "",
	 POD_PENDING, true, 0},
	{SPEC("{'nodeName':''}"), "", "", POD_PENDING, false, 0},
	{STATUS("{'phase':'Running','podIP':'10.244.1.10','podIPs':[{'ip':'10.244.1.10'},"
		"{'ip':'fd00:1::a'}]}"),
	 "", "10.244.1.10 fd00:1::a", POD_RUNNING, false, 0},
	{STATUS("{'phase':'Succeeded','podIP':'10.244.1.10'}"), "", "10.244.1.10", POD_SUCCEEDED,
	 false, 0},
	{STATUS("{'phase':'','podIPs':[]}"), "", "", POD_PENDING, false, 0},
	{STATUS("{'podIPs':[{'ip':'10.244.1.10'},{'ip':'10.244.2.020'},{'ip':''}]}"), "",
	 "10.244.1.10", POD_PENDING, false, 1},
	{STATUS("{'podIP':''}"), "", "", POD_PENDING, false, 0},
	{STATUS("{'podIP':'::ffff:10.0.0.1'}"), "", "", POD_PENDING, false, 1},
};

static void format_ips(const struct object_ips *ips, char *out, size_t size)
{
	char text[IPADDR_TEXT_MAX];

	out[0] = '\0';
	for (size_t i = 0; i < ips->count; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? " " : "",
			 ipaddr_format(&ips->at[i], text));
}

static void test_pods(void **state)
{
	char ips[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(collected_fini) struct collected c = collect(cases[i].text);

		if (c.count != 1)
			fail_msg("%s: %s", cases[i].text, c.error);
		const struct pod *pod = &c.objects[0]->pod;
		format_ips(&pod->ips, ips, sizeof(ips));
		if (strcmp(pod->node, cases[i].node) || strcmp(ips, cases[i].ips) ||
		    pod->phase != cases[i].phase || pod->host_network != cases[i].host_network ||
		    c.notes != cases[i].notes)
			fail_msg("%s: `%s` `%s` %d %zu notes", cases[i].text, pod->node, ips,
				 pod->phase, c.notes);
	}
}

static const struct refused_case refused[] = {
	{SPEC("'x'"), "$.spec: expected an object"},
	{SPEC("{'nodeName':'a/b'}"), "no valid name"},
	{SPEC("{'hostNetwork':'yes'}"), "$.spec.hostNetwork: expected a boolean"},
	{STATUS("{'phase':'running'}"), "is no pod phase"},
	{STATUS("{'podIPs':['10.0.0.1']}"), "$.status.podIPs[0]: expected an object"},
	{STATUS("{'podIPs':[{}]}"), "$.status.podIPs[0].ip: missing"},
};

static void test_refused(void **state)
{
	(void)state;
	check_refused(refused, ARRAY_LEN(refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
