// SPDX-License-Identifier: Apache-2.0
#include "caps.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "cm.h"

static int read_text(const char *text, struct caps *caps, struct err *err)
{
	static const struct jlimits limits = {.bytes = 1 << 20, .depth = 32};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct jval root;

	assert_int_equal(jdoc_parse(text, strlen(text), &limits, &doc, err), 0);
	root = jdoc_root(doc);
	return caps_read(&root, caps, err);
}

static void checks_requests(void **state)
{
	static const struct {
		const char *name, *text;
		int mappings; // -1 = refused
		bool bandwidth;
	} cases[] = {
		{"nothing", "{}", 0, false},
		{"null list", "{\"portMappings\":null}", 0, false},
		{"lower case",
		 "{\"portMappings\":[{\"hostPort\":1,\"containerPort\":65535,\"protocol\":"
		 "\"tcp\"},"
		 "{\"hostPort\":8080,\"containerPort\":80,\"protocol\":\"SCTP\",\"hostIP\":\"::"
		 "1\"}]}",
		 2, false},
		{"Go without tags",
		 "{\"portMappings\":[{\"HostPort\":5353,\"ContainerPort\":53,\"Protocol\":"
		 "\"udp\","
		 "\"HostIP\":\"\"}]}",
		 1, false},
		{"host port 0", "{\"portMappings\":[{\"hostPort\":0,\"containerPort\":1}]}", -1,
		 false},
		{"host port 70000",
		 "{\"portMappings\":[{\"hostPort\":70000,\"containerPort\":1}]}", -1, false},
		{"no container port", "{\"portMappings\":[{\"hostPort\":1}]}", -1, false},
		{"port text", "{\"portMappings\":[{\"hostPort\":\"1\",\"containerPort\":1}]}",
		 -1, false},
		{"protocol",
		 "{\"portMappings\":[{\"hostPort\":1,\"containerPort\":1,\"protocol\":\"icmp\"}]"
		 "}",
		 -1, false},
		{"host address",
		 "{\"portMappings\":[{\"hostPort\":1,\"containerPort\":1,\"hostIP\":\"x\"}]}",
		 -1, false},
		{"entry", "{\"portMappings\":[1]}", -1, false},
		{"list", "{\"portMappings\":{}}", -1, false},
		{"rate with burst of containerd",
		 "{\"bandwidth\":{\"IngressRate\":1000,\"IngressBurst\":4294967295}}", 0, true},
		{"burst of CRI-O",
		 "{\"bandwidth\":{\"egressRate\":1000,\"egressBurst\":34359738359}}", 0, true},
		{"zeroes",
		 "{\"bandwidth\":{\"ingressRate\":0,\"ingressBurst\":0,\"egressRate\":0}}", 0,
		 false},
		{"rate alone", "{\"bandwidth\":{\"ingressRate\":1000}}", -1, false},
		{"burst alone", "{\"bandwidth\":{\"egressBurst\":1000}}", -1, false},
		{"burst above 4 GB",
		 "{\"bandwidth\":{\"ingressRate\":1,\"ingressBurst\":34359738360}}", -1, false},
		{"negative", "{\"bandwidth\":{\"ingressRate\":-1,\"ingressBurst\":1}}", -1,
		 false},
		{"shape", "{\"bandwidth\":[]}", -1, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct caps caps = {0};
		struct err err = ERR_INIT;
		int r = read_text(cases[i].text, &caps, &err);

		if ((r < 0 ? -1 : (int)caps.port_mappings) != cases[i].mappings ||
		    caps.bandwidth != cases[i].bandwidth)
			fail_msg("%s: %d, %zu, %d, %s", cases[i].name, r, caps.port_mappings,
				 caps.bandwidth, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
