// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cm.h"
#include "peer.h"

#define WAIT_MS 10000

static const struct attachment one = {"net", "c1", "eth0"};

static struct client *open_peer(const struct line_peer *peer)
{
	struct client *c = NULL;
	struct err err = ERR_INIT;

	if (daemon_open(line_peer_dir(peer), clock_deadline_ns(WAIT_MS), false, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

#define GRANT(ips, gateways, rest)                                                                 \
	"{\"ok\":true,\"ips\":" ips ",\"gateways\":" gateways                                      \
	",\"mac\":\"02:00:00:00:00:01\",\"gateway_mac\":\"02:00:00:00:00:02\"," rest "}"
#define GOOD_REST "\"mtu\":1450,\"host_ifindex\":9,\"host_ifname\":\"w1\""

// A reply without a descriptor is refused last, so that its text tells that all else was right.
static void checks_the_grant(void **state)
{
	static const struct {
		const char *name, *reply, *part;
	} cases[] = {
		{"all but the namespace", GRANT("[\"10.0.0.1\"]", "[\"169.254.1.1\"]", GOOD_REST),
		 "it brought no namespace"},
		{"no address", GRANT("[]", "[]", GOOD_REST), "0 addresses"},
		{"bad address", GRANT("[\"10.0.0\"]", "[\"169.254.1.1\"]", GOOD_REST), "ips"},
		{"address is a number", GRANT("[1]", "[\"169.254.1.1\"]", GOOD_REST), "ips"},
		{"gateway missing",
		 GRANT("[\"10.0.0.1\",\"fd00::1\"]", "[\"169.254.1.1\"]", GOOD_REST), "gateway"},
		{"no mtu", GRANT("[\"10.0.0.1\"]", "[\"169.254.1.1\"]",
				 "\"host_ifindex\":9,\"host_ifname\":\"w1\""),
		 "mtu"},
		{"index 0", GRANT("[\"10.0.0.1\"]", "[\"169.254.1.1\"]",
				  "\"mtu\":1450,\"host_ifindex\":0,\"host_ifname\":\"w1\""),
		 "host_ifindex"},
		{"long name", GRANT("[\"10.0.0.1\"]", "[\"169.254.1.1\"]",
				    "\"mtu\":1450,\"host_ifindex\":9,"
				    "\"host_ifname\":\"abcdefghijklmnop\""),
		 "host_ifname"},
		{"nothing", "{\"ok\":true}", "ips"},
	};
	const struct ip_list none = {0};
	const struct daemon_want want = {.netns = "/run/netns/x", .ips = &none};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line_answer answers[2];
		struct line_peer *peer = peer_start(answers, "\"attach\"", cases[i].reply);
		_cleanup_(daemon_closep) struct client *c = open_peer(peer);
		struct daemon_grant grant;
		struct err err = ERR_INIT;
		int r = daemon_attach(c, &one, &want, clock_deadline_ns(WAIT_MS), &grant, &err);

		daemon_closep(&c);
		line_peer_stop(peer);
		if (r >= 0 || err.code != CNI_CODE_DECODE || !strstr(err.text, cases[i].part))
			fail_msg("%s: %d, code %u, %s", cases[i].name, r, err.code, err.text);
	}
}

static void says_all_that_is_wanted(void **state)
{
	struct ip_list ips = {.count = 1};
	const struct macaddr mac = {{2, 0, 0, 0, 0, 7}};
	struct daemon_want want = {.netns = "/n\xff", .pod_namespace = "ns", .pod_name = "p",
				   .pod_uid = "u", .ips = &ips, .delegated = true, .mac = &mac,
				   .mtu = 1400};
	// A netns path that is no text stays at home.
	static const char *const request =
		"{\"type\":\"attach\",\"network\":\"net\",\"container_id\":\"c1\","
		"\"ifname\":\"eth0\",\"pod\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\"},"
		"\"ips\":[\"10.0.0.7\"],\"delegated\":true,\"mac\":\"02:00:00:00:00:07\","
		"\"mtu\":1400}";
	struct line_answer answers[2];
	struct line_peer *peer = peer_start(
		answers, request, "{\"ok\":false,\"error\":{\"code\":100,\"msg\":\"taken\"}}");
	_cleanup_(daemon_closep) struct client *c = open_peer(peer);
	struct daemon_grant grant;
	struct err err = ERR_INIT;
	int r;

	(void)state;
	ipaddr_parse("10.0.0.7", &ips.ip[0]);
	r = daemon_attach(c, &one, &want, clock_deadline_ns(WAIT_MS), &grant, &err);
	daemon_closep(&c);
	line_peer_stop(peer);
	assert_int_equal(r, -EREMOTEIO);
	assert_int_equal(err.code, 100);
	assert_string_equal(err.text, "taken");
	assert_false(daemon_is_away(r));
}

static void tells_what_is_away(void **state)
{
	static const char *const replies[] = {NULL, "{\"ok\":tr", "[]", "{}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
		struct line_answer answers[2];
		struct line_peer *peer = peer_start(answers, "\"detach\"", replies[i]);
		_cleanup_(daemon_closep) struct client *c = open_peer(peer);
		struct err err = ERR_INIT;
		int r = daemon_detach(c, &one, clock_deadline_ns(WAIT_MS), NULL, &err);

		daemon_closep(&c);
		line_peer_stop(peer);
		if (!daemon_is_away(r) || err.code != CNI_CODE_TRY_AGAIN)
			fail_msg("reply %zu: %d, code %u, %s", i, r, err.code, err.text);
	}
}

static void gives_up_in_time(void **state)
{
	struct client *c = NULL;
	struct err err = ERR_INIT;
	uint64_t begin = clock_now_ns();

	(void)state;
	assert_true(daemon_is_away(
		daemon_open("/nonexistent", clock_deadline_ns(200), true, &c, &err)));
	assert_int_equal(err.code, CNI_CODE_TRY_AGAIN);
	assert_non_null(strstr(err.text, "/nonexistent"));
	assert_true(clock_now_ns() - begin >= 100 * NS_PER_MS); // it was patient
	assert_true(daemon_is_away(daemon_open("/nonexistent", clock_deadline_ns(200), false, &c,
					       NULL)));
	assert_null(c);
}

static void detach_tells_what_it_found(void **state)
{
	(void)state;
	for (int found = 0; found < 2; found++) {
		struct line_answer answers[2];
		struct line_peer *peer =
			peer_start(answers, "\"detach\"",
				   found ? "{\"ok\":true,\"found\":true}" : "{\"ok\":true}");
		_cleanup_(daemon_closep) struct client *c = open_peer(peer);
		bool got = !found;
		int r = daemon_detach(c, &one, clock_deadline_ns(WAIT_MS), &got, NULL);

		daemon_closep(&c);
		line_peer_stop(peer);
		assert_int_equal(r, 0);
		assert_int_equal(got, found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_the_grant),
		cmocka_unit_test(says_all_that_is_wanted),
		cmocka_unit_test(tells_what_is_away),
		cmocka_unit_test(gives_up_in_time),
		cmocka_unit_test(detach_tells_what_it_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
