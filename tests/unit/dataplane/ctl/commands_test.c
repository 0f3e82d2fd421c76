// SPDX-License-Identifier: Apache-2.0
// All commands against a daemon that is played by a real socket.
#include "harness/cm.h"

#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "commands.h"
#include "harness/line_peer.h"

#define HELLO                                         \
	{                                             \
		"\"hello\"", {LINE_PEER_HELLO}, false \
	}
#define GET(object, ...)                                                                          \
	{                                                                                         \
		"\"object\":\"" object "\"", {"{\"ok\":true,\"items\":[" __VA_ARGS__ "]}"}, false \
	}

#define POD_A                                                                                    \
	"{\"namespace\":\"default\",\"name\":\"a\",\"container_id\":\"c1\",\"ifname\":\"eth0\"," \
	"\"ips\":[\"10.244.1.2\",\"fd00:10:1::2\"],\"mac\":\"02:00:00:00:00:01\","               \
	"\"state\":\"active\",\"mtu\":1450,\"rx_packets\":7,\"rx_bytes\":2048,"                  \
	"\"tx_packets\":5,\"tx_bytes\":100,\"drops\":1,\"extra\":[1]}"
#define POD_B                                                                \
	"{\"namespace\":\"kube-system\",\"name\":\"b\",\"ifname\":\"eth0\"," \
	"\"ips\":[\"10.244.1.3\"],\"state\":\"waiting\",\"drops\":0}"
#define STATUS(state, problems)                                                            \
	"{\"state\":\"" state "\",\"problems\":[" problems "],\"version\":\"1.2.3\","      \
	"\"uptime_s\":3725,\"node\":\"n1\",\"agent\":{\"connected\":true,\"synced\":true," \
	"\"last_event_age_s\":4},\"uplink\":{\"kind\":\"none\",\"name\":\"\",\"mtu\":0},"  \
	"\"pod_mtu\":1450,\"pod_cidrs\":[\"10.244.1.0/24\",\"fd00::/64\"],"                \
	"\"pods\":2,\"ports\":3,\"restarts\":0}"

struct row {
	const char *name;
	struct line_answer answers[3];
	bool json, stats;
	int family;
	const char *args[4]; // object and the rest
	int status;
	const char *out; // whole output; NULL: not looked at
	const char *err; // part of the error; NULL: none
};

static const struct row rows[] = {
	{.name = "pods as text",
	 .answers = {HELLO, GET("pod", POD_A "," POD_B)},
	 .args = {"pod"},
	 .out = "NAMESPACE    NAME  IFNAME  ADDRESSES                STATE    DROPS\n"
		"default      a     eth0    10.244.1.2,fd00:10:1::2  active       1\n"
		"kube-system  b     eth0    10.244.1.3               waiting      0\n"},
	{.name = "pods of one family",
	 .answers = {HELLO, GET("pod", POD_A "," POD_B)},
	 .family = AF_INET6,
	 .args = {"pod", "list"},
	 .out = "NAMESPACE  NAME  IFNAME  ADDRESSES     STATE   DROPS\n"
		"default    a     eth0    fd00:10:1::2  active      1\n"},
	{.name = "one pod by its whole name, as JSON",
	 .answers = {HELLO, GET("pod", POD_A "," POD_B)},
	 .json = true,
	 .args = {"pod", "list", "kube-system/b"},
	 .out = "{\"api_version\":1,\"pods\":[" POD_B "]}\n"},
	{.name = "one pod by its short name, keys that we do not know",
	 .answers = {HELLO, GET("pod", POD_A "," POD_B)},
	 .json = true,
	 .args = {"pod", "a"},
	 .out = "{\"api_version\":1,\"pods\":[" POD_A "]}\n"},
	{.name = "all columns",
	 .answers = {HELLO, GET("drop", "{\"reason\":\"ttl\",\"port\":\"p\",\"pod\":\"n/a\","
					"\"direction\":\"rx\","
					"\"packets\":3,\"help\":\"ran out\"}")},
	 .stats = true,
	 .args = {"drop"},
	 .out = "REASON  PORT  POD  DIR  PACKETS  MEANING\n"
		"ttl     p     n/a  rx         3  ran out\n"},
	{.name = "an empty list",
	 .answers = {HELLO, GET("flow", "")},
	 .json = true,
	 .args = {"flow"},
	 .out = "{\"api_version\":1,\"flows\":[]}\n"},
	{.name = "ports",
	 .answers = {HELLO,
		     GET("port", "{\"id\":1,\"kind\":\"host\",\"name\":\"weft0\",\"pod\":\"\","
				 "\"lane\":\"express\",\"rx_packets\":10,\"tx_packets\":2,"
				 "\"rx_drops\":0,\"tx_drops\":0}")},
	 .args = {"port"},
	 .out = "ID  KIND  NAME   POD  LANE     RX  TX  RX-DROPS  TX-DROPS\n"
		" 1  host  weft0  -    express  10   2         0         0\n"},
	{.name = "nodes",
	 .answers = {HELLO, GET("node", "{\"name\":\"n1\",\"node_ip\":\"192.0.2.11\","
					"\"pod_cidrs\":[\"10.244.1.0/24\"],\"route\":\"native\","
					"\"mtu\":1500}")},
	 .args = {"node", "n1"},
	 .out = "NAME  ADDRESS     POD-CIDRS      ROUTE    MTU\n"
		"n1    192.0.2.11  10.244.1.0/24  native  1500\n"},
	{.name = "workers",
	 .answers = {HELLO, GET("worker", "{\"id\":0,\"cpu\":1,\"busy\":0.25,\"idle\":0.5,"
					  "\"asleep\":0.25,\"rx_packets\":9,"
					  "\"cycles_per_packet\":300,\"batch\":2.5}")},
	 .args = {"worker"},
	 .out = "ID  CPU   BUSY   IDLE  ASLEEP  RX  CYCLES/PKT  BATCH\n"
		" 0    1  25.0%  50.0%   25.0%   9         300    2.5\n"},
	{.name = "status",
	 .answers = {HELLO, GET("status", STATUS("ok", ""))},
	 .args = {"status"},
	 .out = "state      ok\n"
		"version    1.2.3 (up 1 h 2 min)\n"
		"node       n1\n"
		"addresses  -\n"
		"ranges     10.244.1.0/24,fd00::/64, MTU 1450\n"
		"uplink     none\n"
		"agent      connected, synced, last event 4 s ago\n"
		"pods       2\n"
		"ports      3\n"
		"restarts   0\n"
		"problems   none\n"},
	{.name = "status with a problem",
	 .answers = {HELLO, GET("status",
				STATUS("degraded", "{\"what\":\"x.yaml\",\"hint\":\"mend it\"}"))},
	 .json = true,
	 .args = {"status", "show"},
	 .status = CTL_FAILED,
	 .out = "{\"api_version\":1,\"state\":\"degraded\",\"problems\":[{\"what\":\"x.yaml\","
		"\"hint\":\"mend it\"}],\"version\":\"1.2.3\",\"uptime_s\":3725,\"node\":\"n1\","
		"\"agent\":{\"connected\":true,\"synced\":true,\"last_event_age_s\":4},"
		"\"uplink\":{\"kind\":\"none\",\"name\":\"\",\"mtu\":0},"
		"\"pod_mtu\":1450,\"pod_cidrs\":[\"10.244.1.0/24\",\"fd00::/64\"],\"pods\":2,"
		"\"ports\":3,\"restarts\":0}\n"},
	{.name = "status that is none",
	 .answers = {HELLO, GET("status", "")},
	 .args = {"status"},
	 .status = CTL_FAILED,
	 .out = "",
	 .err = "no status"},
	{.name = "version",
	 .answers = {HELLO, GET("status", STATUS("ok", ""))},
	 .json = true,
	 .args = {"version"},
	 .out = "{\"api_version\":1,\"weftctl\":\"" WEFT_VERSION "\",\"weftd\":\"1.2.3\"}\n"},
	{.name = "an error reply",
	 .answers = {HELLO,
		     {"\"get\"",
		      {"{\"ok\":false,\"error\":{\"code\":11,\"msg\":\"busy\"}}"},
		      false}},
	 .args = {"pod"},
	 .status = CTL_FAILED,
	 .out = "",
	 .err = "busy"},
	{.name = "a daemon that hangs up",
	 .answers = {HELLO},
	 .args = {"pod"},
	 .status = CTL_UNREACHABLE,
	 .out = "",
	 .err = "weftd.sock"},
	{.name = "items that are no array",
	 .answers = {HELLO, {"\"get\"", {"{\"ok\":true,\"items\":3}"}, false}},
	 .args = {"pod"},
	 .status = CTL_FAILED,
	 .out = "",
	 .err = "items"},
	{.name = "too many words",
	 .answers = {HELLO},
	 .args = {"pod", "list", "a", "b"},
	 .status = CTL_USAGE,
	 .out = "",
	 .err = "`b`"},
	{.name = "a daemon that answers is not uninstalled",
	 .answers = {HELLO},
	 .args = {"uninstall-node"},
	 .status = CTL_FAILED,
	 .out = "",
	 .err = "stop it first"},
};

// Runs a command; returns its exit status, *ret_out is what it printed.
static int run_command(const struct row *row, const char *run_dir, char **ret_out, struct err *err)
{
	size_t size;
	struct ctl ctl = {run_dir, row->json, row->stats, row->family,
			  open_memstream(ret_out, &size)};
	const struct command *c = ctl_find_command(row->args[0]);
	char *args[4] = {0};
	int r;

	assert_non_null(c);
	for (size_t i = 0; i + 1 < ARRAY_LEN(row->args); i++)
		args[i] = (char *)row->args[i + 1];
	r = c->fn(&ctl, args, err);
	fclose(ctl.out);
	return ctl_exit_status(r);
}

static void answers_as_documented(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct line_peer *p = line_peer_start(row->answers, 2);
		_free_ char *out = NULL;
		struct err err = ERR_INIT;
		int status;

		print_message("%s\n", row->name);
		status = run_command(row, line_peer_dir(p), &out, &err);
		line_peer_stop(p);
		if (row->out)
			assert_string_equal(out, row->out);
		if (row->err)
			assert_non_null(strstr(err.text, row->err));
		else
			assert_string_equal(err.text, "");
		assert_int_equal(status, row->status);
	}
}

static void tells_that_nobody_answers(void **state)
{
	static const struct {
		struct row row;
		const char *part;
	} cases[] = {
		{{.args = {"status"}}, "state      down\n"},
		{{.args = {"status"}, .json = true},
		 "{\"api_version\":1,\"state\":\"down\",\"problems\":[{\"what\":"},
		{{.args = {"version"}}, "weftd    does not answer\n"},
		{{.args = {"version"}, .json = true}, "\"weftd\":null"},
		{{.args = {"pod"}, .json = true}, ""},
		{{.args = {"pod", "watch"}}, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_free_ char *out = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(run_command(&cases[i].row, "/nonexistent", &out, &err),
				 CTL_UNREACHABLE);
		assert_non_null(strstr(out, cases[i].part));
		assert_int_equal(err.text[0] != '\0', cases[i].part[0] == '\0');
	}
}

static void names_each_command_once(void **state)
{
	static const char *const names[] = {"status", "pod",    "port",    "drop",          "flow",
					    "node",   "worker", "version", "uninstall-node"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct command *c = ctl_find_command(names[i]);

		assert_non_null(c);
		assert_string_equal(c->name, names[i]);
		assert_false(commands_is_later(names[i]));
	}
	assert_null(ctl_find_command("pods"));
	assert_true(commands_is_later("why"));
	assert_false(commands_is_later("whyever"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_as_documented),
		cmocka_unit_test(tells_that_nobody_answers),
		cmocka_unit_test(names_each_command_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
