// SPDX-License-Identifier: Apache-2.0
// A weftd for tests of the CNI binary: it keeps attachments in memory, forwards nothing, and
// misbehaves where it is told to.
//
//	fake_weftd --run-dir D --netns N [--log FILE] [--RULE TYPE]... [--fail TYPE=CODE]...
//	RULE: silent (no reply), half (half a reply, no more), cut (half, then close), close,
//	stop (SIGSTOP before the reply), die (exit)
//	--taken N: the first N attach replies name a host end index that is in use
//
// Each request is checked against the table of messages, written to the log, and answered. It
// prints "ready" when it listens. One thread.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/line.h"
#include "api/msg.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/hash.h"
#include "json/jget.h"
#include "json/jput.h"
#include "netlink/link.h"
#include "netlink/netns.h"

#define CLIENTS_MAX 64
#define PODS_MAX 256
#define SEND_MS 2000
#define FIRST_IFINDEX 1000

enum rule { RULE_NONE, RULE_SILENT, RULE_HALF, RULE_CUT, RULE_CLOSE, RULE_STOP, RULE_DIE };

struct pod {
	bool used, active;
	int client; // slot of the connection that reserved it
	char hash[33];
	char network[256], container_id[1025], ifname[16], host_ifname[16];
	uint32_t ifindex;
	struct ipaddr ips[16];
	size_t ip_count;
};

struct fake {
	int listen_fd, netns_fd, log_fd;
	struct rtnl *rtnl;
	enum rule rules[MSG_COUNT];
	unsigned fail_code[MSG_COUNT];
	unsigned taken;
	uint32_t next_ifindex;
	struct {
		int fd;
		struct line_reader in;
	} clients[CLIENTS_MAX];
	struct pod pods[PODS_MAX];
};

static const char *text_of(const struct jval *req, const char *key)
{
	const char *text = "";

	jget_string(req, key, JOPTIONAL, &text, NULL);
	return text;
}

static void hash_of(const struct jval *req, char out[33])
{
	const char *const parts[] = {text_of(req, "network"), text_of(req, "container_id"),
				     text_of(req, "ifname")};

	hash_strings_hex(parts, 3, out);
}

static struct pod *find_pod(struct fake *f, const struct jval *req)
{
	char hash[33];

	hash_of(req, hash);
	for (size_t i = 0; i < PODS_MAX; i++) {
		if (f->pods[i].used && strcmp(f->pods[i].hash, hash) == 0)
			return &f->pods[i];
	}
	return NULL;
}

static void free_pod(struct fake *f, struct pod *pod)
{
	struct link_info info;

	if (link_get_by_name(f->rtnl, pod->host_ifname, &info, NULL) == 0)
		link_del(f->rtnl, info.ifindex, NULL);
	*pod = (struct pod){0};
}

// ---- messages: each fills a reply that is an open object, or returns a CNI code ----

static unsigned do_hello(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	(void)f, (void)req, (void)slot;
	jput_int(j, "version", API_VERSION);
	jput_string(j, "weftd", "fake");
	return 0;
}

static void take_ips(struct pod *pod, const struct jval *req, size_t number)
{
	struct jval ips = {0};
	char text[IPADDR_TEXT_MAX];

	jget_array(req, "ips", JOPTIONAL, &ips, NULL);
	for (size_t i = 0; i < jarray_len(&ips) && i < 16; i++) {
		struct jval v = jarray_at(&ips, i);
		struct ipprefix p = {0};
		const char *ip = "";

		if (jval_string(&v, &ip, NULL) == 0 && ipprefix_parse(ip, &p) == 0)
			pod->ips[pod->ip_count++] = p.addr;
	}
	if (pod->ip_count > 0)
		return;
	snprintf(text, sizeof(text), "10.99.0.%zu", number + 1);
	ipaddr_parse(text, &pod->ips[0]);
	snprintf(text, sizeof(text), "fd00:99::%zx", number + 1);
	ipaddr_parse(text, &pod->ips[1]);
	pod->ip_count = 2;
}

static void put_grant(struct fake *f, const struct pod *pod, const struct jval *req, struct jput *j)
{
	struct macaddr mac = {{2, 0, 0, 0, (uint8_t)(pod->ifindex >> 8), (uint8_t)pod->ifindex}};
	int64_t mtu = 1450;

	jget_mac(req, "mac", JOPTIONAL, &mac, NULL);
	jget_int(req, "mtu", JOPTIONAL, (struct jrange){1, 65535}, &mtu, NULL);
	jput_array(j, "ips");
	for (size_t i = 0; i < pod->ip_count; i++)
		jput_ipaddr(j, NULL, &pod->ips[i]);
	jput_end(j);
	jput_array(j, "gateways");
	for (size_t i = 0; i < pod->ip_count; i++)
		jput_string(j, NULL, ipaddr_is_v4(&pod->ips[i]) ? "169.254.1.1" : "fe80::1");
	jput_end(j);
	jput_mac(j, "mac", &mac);
	jput_string(j, "gateway_mac", "02:77:65:66:74:01");
	jput_int(j, "mtu", mtu);
	jput_string(j, "host_ifname", pod->host_ifname);
	jput_int(j, "host_ifindex", f->taken > 0 ? 1 : pod->ifindex); // 1 is lo
	jput_string(j, "host_alias", "unused");
	jput_int(j, "gso_max_size", 65536);
	jput_int(j, "gso_max_segs", 128);
}

static unsigned do_attach(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	struct pod pod = {.used = true, .client = slot, .ifindex = f->next_ifindex++};
	size_t i = 0;

	if (find_pod(f, req))
		return 101;
	while (i < PODS_MAX && f->pods[i].used)
		i++;
	if (i == PODS_MAX)
		return 100;
	hash_of(req, pod.hash);
	snprintf(pod.network, sizeof(pod.network), "%s", text_of(req, "network"));
	snprintf(pod.container_id, sizeof(pod.container_id), "%s", text_of(req, "container_id"));
	snprintf(pod.ifname, sizeof(pod.ifname), "%s", text_of(req, "ifname"));
	pod.host_ifname[0] = 'w';
	memcpy(pod.host_ifname + 1, pod.hash, 12);
	take_ips(&pod, req, i);
	put_grant(f, &pod, req, j);
	f->pods[i] = pod;
	if (f->taken > 0)
		f->taken--;
	return 0;
}

static unsigned do_activate(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	struct pod *pod = find_pod(f, req);
	char alias[64];
	struct link_change up = {.up = 1, .noarp = 1, .addrgen_none = true, .alias = alias};
	struct link_info info;

	(void)slot;
	if (!pod)
		return 3;
	if (link_get_by_index(f->rtnl, pod->ifindex, &info, NULL) != 0 ||
	    strcmp(info.name, pod->host_ifname) != 0)
		return 102;
	snprintf(alias, sizeof(alias), "weft:%s", pod->hash);
	up.ifindex = pod->ifindex;
	if (link_set(f->rtnl, &up, NULL) != 0)
		return 102;
	pod->active = true;
	jput_int(j, "port", pod->ifindex);
	return 0;
}

static unsigned do_detach(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	struct pod *pod = find_pod(f, req);

	(void)slot;
	jput_bool(j, "found", pod != NULL);
	if (pod)
		free_pod(f, pod);
	return 0;
}

static bool pod_has(const struct pod *pod, const char *text)
{
	struct ipaddr a;

	for (size_t i = 0; ipaddr_parse(text, &a) == 0 && i < pod->ip_count; i++) {
		if (ipaddr_is_equal(&a, &pod->ips[i]))
			return true;
	}
	return false;
}

static unsigned do_check(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	struct pod *pod = find_pod(f, req);
	struct jval ips = {0};

	(void)slot, (void)j;
	if (!pod || !pod->active)
		return 103;
	jget_array(req, "ips", JOPTIONAL, &ips, NULL);
	for (size_t i = 0; i < jarray_len(&ips); i++) {
		struct jval v = jarray_at(&ips, i);
		const char *text = "";

		if (jval_string(&v, &text, NULL) < 0 || !pod_has(pod, text))
			return 103;
	}
	return 0;
}

static bool is_listed(const struct pod *pod, const struct jval *valid)
{
	for (size_t i = 0; i < jarray_len(valid); i++) {
		struct jval v = jarray_at(valid, i);

		if (strcmp(text_of(&v, "container_id"), pod->container_id) == 0 &&
		    strcmp(text_of(&v, "ifname"), pod->ifname) == 0)
			return true;
	}
	return false;
}

static unsigned do_gc(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	struct jval valid = {0};
	struct link_info info;

	(void)slot;
	jget_array(req, "valid", JOPTIONAL, &valid, NULL);
	jput_array(j, "released");
	for (size_t i = 0; i < PODS_MAX; i++) {
		struct pod *pod = &f->pods[i];

		if (!pod->used || is_listed(pod, &valid) ||
		    strcmp(pod->network, text_of(req, "network")) != 0 ||
		    link_get_by_name(f->rtnl, pod->host_ifname, &info, NULL) == 0)
			continue;
		free_pod(f, pod);
	}
	jput_end(j);
	return 0;
}

static unsigned do_ready(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	unsigned code = f->fail_code[MSG_READY];

	(void)req, (void)slot;
	jput_bool(j, "ready", code == 0);
	if (code) {
		jput_int(j, "code", code);
		jput_string(j, "msg", "told so");
	}
	return 0;
}

// Pages of three, so that a client's paging is seen to work.
static unsigned do_get(struct fake *f, const struct jval *req, int slot, struct jput *j)
{
	int64_t after = 0;
	size_t sent = 0, i;

	(void)slot;
	jget_int(req, "after", JOPTIONAL, (struct jrange){0, PODS_MAX}, &after, NULL);
	jput_array(j, "items");
	for (i = (size_t)after; i < PODS_MAX && sent < 3; i++) {
		if (!f->pods[i].used)
			continue;
		jput_object(j, NULL);
		jput_string(j, "network", f->pods[i].network);
		jput_string(j, "container_id", f->pods[i].container_id);
		jput_string(j, "ifname", f->pods[i].ifname);
		jput_end(j);
		sent++;
	}
	jput_end(j);
	if (i < PODS_MAX)
		jput_int(j, "next", (int64_t)i);
	return 0;
}

typedef unsigned handler_fn(struct fake *f, const struct jval *req, int slot, struct jput *j);

static handler_fn *const handlers[MSG_COUNT] = {
	[MSG_HELLO] = do_hello,	      [MSG_ATTACH] = do_attach, [MSG_ACTIVATE] = do_activate,
	[MSG_DETACH] = do_detach,     [MSG_CHECK] = do_check,	[MSG_GC] = do_gc,
	[MSG_READY] = do_ready,	      [MSG_GET] = do_get,
};

// ---- connections ----

static void drop_client(struct fake *f, int slot)
{
	close(f->clients[slot].fd);
	line_reader_fini(&f->clients[slot].in);
	f->clients[slot].fd = -1;
	// A reservation dies with its connection.
	for (size_t i = 0; i < PODS_MAX; i++) {
		if (f->pods[i].used && !f->pods[i].active && f->pods[i].client == slot)
			free_pod(f, &f->pods[i]);
	}
}

static char *error_text(unsigned code, const char *msg)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_bool(j, "ok", false);
	jput_object(j, "error");
	jput_int(j, "code", code);
	jput_string(j, "msg", msg);
	jput_end(j);
	jput_end(j);
	return jput_take(j);
}

// The reply to one request, malloc'ed.
static char *answer(struct fake *f, int slot, const struct jval *req, enum msg_type type)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	unsigned code;

	if (f->fail_code[type] && type != MSG_READY)
		return error_text(f->fail_code[type], "told to fail");
	if (!handlers[type])
		return error_text(2, "not in this fake");
	jput_object(j, NULL);
	jput_bool(j, "ok", true);
	code = handlers[type](f, req, slot, j);
	jput_end(j);
	return code ? error_text(code, "refused") : jput_take(j);
}

static void log_line(struct fake *f, const char *text)
{
	if (f->log_fd >= 0 && (fdio_write_all(f->log_fd, text, strlen(text)) < 0 ||
			       fdio_write_all(f->log_fd, "\n", 1) < 0))
		perror("log");
}

// False: the connection is to be closed.
static bool obey(struct fake *f, int slot, const struct jval *req, enum msg_type type)
{
	enum rule rule = f->rules[type];
	int fd = f->clients[slot].fd;
	_free_ char *text = NULL;

	if (rule == RULE_DIE)
		_exit(0);
	if (rule == RULE_CLOSE)
		return false;
	if (rule == RULE_SILENT)
		return true;
	if (rule == RULE_HALF || rule == RULE_CUT)
		return send(fd, "{\"ok\":tr", 8, MSG_NOSIGNAL) == 8 && rule == RULE_HALF;
	if (rule == RULE_STOP) {
		f->rules[type] = RULE_NONE;
		raise(SIGSTOP);
	}
	text = answer(f, slot, req, type);
	return text && line_send(fd, text, strlen(text), type == MSG_ATTACH ? f->netns_fd : -1,
				 clock_deadline_ns(SEND_MS)) == 0;
}

static bool handle_line(struct fake *f, int slot, const char *text, size_t len)
{
	static const struct jlimits limits = {.bytes = API_LINE_MAX, .depth = 16};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	struct err err = ERR_INIT;
	enum msg_type type;
	struct jval req;

	log_line(f, text);
	if (jdoc_parse(text, len, &limits, &doc, &err) < 0) {
		fprintf(stderr, "fake_weftd: %s\n", err.text);
		return false;
	}
	req = jdoc_root(doc);
	if (msg_check(&req, &type, &err) < 0) {
		_free_ char *reply = error_text(err.code, err.text);

		fprintf(stderr, "fake_weftd: %s\n", err.text);
		return reply && line_send(f->clients[slot].fd, reply, strlen(reply), -1,
					  clock_deadline_ns(SEND_MS)) == 0;
	}
	return obey(f, slot, &req, type);
}

static void serve(struct fake *f, int slot)
{
	ssize_t n = line_reader_fill(&f->clients[slot].in, f->clients[slot].fd);
	const char *text;
	size_t len;

	if (n <= 0 && n != -EAGAIN) {
		drop_client(f, slot);
		return;
	}
	while ((text = line_reader_next(&f->clients[slot].in, &len))) {
		if (!handle_line(f, slot, text, len)) {
			drop_client(f, slot);
			return;
		}
	}
}

static void take_client(struct fake *f)
{
	int fd = accept4(f->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	for (int i = 0; fd >= 0 && i < CLIENTS_MAX; i++) {
		if (f->clients[i].fd >= 0)
			continue;
		f->clients[i].fd = fd;
		line_reader_init(&f->clients[i].in);
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void loop(struct fake *f)
{
	struct pollfd fds[CLIENTS_MAX + 1];

	for (;;) {
		for (int i = 0; i < CLIENTS_MAX; i++)
			fds[i] = (struct pollfd){.fd = f->clients[i].fd, .events = POLLIN};
		fds[CLIENTS_MAX] = (struct pollfd){.fd = f->listen_fd, .events = POLLIN};
		if (poll(fds, CLIENTS_MAX + 1, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < CLIENTS_MAX; i++) {
			if (fds[i].fd >= 0 && fds[i].revents)
				serve(f, i);
		}
		if (fds[CLIENTS_MAX].revents)
			take_client(f);
	}
}

// ---- start ----

static void usage(const char *what)
{
	fprintf(stderr, "fake_weftd: bad argument `%s`\n", what);
	exit(2);
}

static enum msg_type type_of(const char *name, size_t len)
{
	for (int i = 0; i < MSG_COUNT; i++) {
		if (strlen(msg_table[i].name) == len && memcmp(msg_table[i].name, name, len) == 0)
			return (enum msg_type)i;
	}
	usage(name);
	return MSG_COUNT;
}

static bool take_rule(struct fake *f, const char *option, const char *value)
{
	static const struct {
		const char *name;
		enum rule rule;
	} names[] = {{"--silent", RULE_SILENT}, {"--half", RULE_HALF}, {"--cut", RULE_CUT},
		     {"--close", RULE_CLOSE},	{"--stop", RULE_STOP}, {"--die", RULE_DIE}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(names[i].name, option) == 0) {
			f->rules[type_of(value, strlen(value))] = names[i].rule;
			return true;
		}
	}
	return false;
}

struct places {
	const char *run_dir, *netns, *log;
};

static void take_option(struct fake *f, struct places *p, const char *option, const char *value)
{
	const char *eq = strchr(value, '=');

	if (strcmp(option, "--run-dir") == 0)
		p->run_dir = value;
	else if (strcmp(option, "--netns") == 0)
		p->netns = value;
	else if (strcmp(option, "--log") == 0)
		p->log = value;
	else if (strcmp(option, "--taken") == 0)
		f->taken = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(option, "--fail") == 0 && eq)
		f->fail_code[type_of(value, (size_t)(eq - value))] =
			(unsigned)strtoul(eq + 1, NULL, 10);
	else if (!take_rule(f, option, value))
		usage(option);
}

static int start(struct fake *f, const struct places *p, struct err *err)
{
	char path[108];
	int r = fdio_mkdir_private(p->run_dir, 0700, err);

	if (r == 0) {
		f->netns_fd = netns_open_or_make(p->netns, err);
		r = f->netns_fd < 0 ? f->netns_fd : rtnl_open_in(f->netns_fd, &f->rtnl, err);
	}
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/weftd.sock", p->run_dir);
	f->listen_fd = fdio_listen_unix(path, CLIENTS_MAX);
	if (f->listen_fd < 0)
		return err_set(err, -f->listen_fd, "listen on `%s`", path);
	f->log_fd = -1;
	if (p->log) {
		FILE *log = fopen(p->log, "ae");

		f->log_fd = log ? fileno(log) : -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct fake f;
	struct places p = {.netns = "weft"};
	struct err err = ERR_INIT;

	for (int i = 1; i + 1 < argc; i += 2)
		take_option(&f, &p, argv[i], argv[i + 1]);
	if (argc % 2 == 0 || !p.run_dir)
		usage("--run-dir");
	for (int i = 0; i < CLIENTS_MAX; i++)
		f.clients[i].fd = -1;
	f.next_ifindex = FIRST_IFINDEX;
	if (start(&f, &p, &err) < 0) {
		fprintf(stderr, "fake_weftd: %s\n", err.text);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	loop(&f);
	return 1;
}
