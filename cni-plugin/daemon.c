// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "json/jput.h"

#define FIELD_MAX 1024 // longest string that weftd accepts
#define FIRST_PAUSE_MS 20
#define LONGEST_PAUSE_MS 320

bool daemon_is_away(int r)
{
	// EPROTO is half a reply: a weftd that is dying, or something else behind the socket.
	return r == -ECONNREFUSED || r == -ECONNRESET || r == -ETIMEDOUT || r == -EPIPE ||
	       r == -EAGAIN || r == -EPROTO;
}

static int away(int r, struct err *err)
{
	return daemon_is_away(r) ? cni_code(err, r, CNI_CODE_TRY_AGAIN) : r;
}

int daemon_open(const char *run_dir, unsigned long long deadline_ns, bool patient,
		struct client **ret_client, struct err *err)
{
	int pause_ms = FIRST_PAUSE_MS;

	for (;;) {
		struct err own = ERR_INIT;
		int r = client_open(run_dir, "weft", deadline_ns, ret_client, &own);
		struct timespec pause = {.tv_nsec = pause_ms * (long)NS_PER_MS};

		if (r == 0)
			return 0;
		if (!patient || !daemon_is_away(r) || clock_left_ms(deadline_ns) <= pause_ms) {
			if (err)
				*err = own;
			return away(r, err);
		}
		// weftd may be starting: there is nothing to wait on but time.
		nanosleep(&pause, NULL);
		if (pause_ms < LONGEST_PAUSE_MS)
			pause_ms *= 2;
	}
}

void daemon_closep(struct client **c)
{
	client_closep(c);
}

// A request about one attachment, still open for more fields.
static struct jput *request(const char *type, const struct attachment *a)
{
	struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_string(j, "type", type);
	jput_string(j, "network", a->network);
	jput_string(j, "container_id", a->container_id);
	jput_string(j, "ifname", a->ifname);
	return j;
}

int daemon_call(struct client *c, struct jput *j, unsigned long long deadline_ns,
		struct jdoc **ret_reply, struct err *err)
{
	_free_ char *text = NULL;

	jput_end(j);
	text = jput_take(j);
	if (!text)
		return err_set(err, ENOMEM, "request to weftd");
	return away(client_call(c, text, deadline_ns, ret_reply, err), err);
}

// The same where the reply says nothing but yes.
static int tell(struct client *c, struct jput *j, unsigned long long deadline_ns, struct err *err)
{
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;

	return daemon_call(c, j, deadline_ns, &reply, err);
}

static void put_ips(struct jput *j, const struct ip_list *ips)
{
	if (ips->count == 0)
		return;
	jput_array(j, "ips");
	for (size_t i = 0; i < ips->count; i++)
		jput_ipaddr(j, NULL, &ips->ip[i]);
	jput_end(j);
}

static void put_pod(struct jput *j, const struct daemon_want *want)
{
	if (!want->pod_namespace || !want->pod_name)
		return;
	jput_object(j, "pod");
	jput_string(j, "namespace", want->pod_namespace);
	jput_string(j, "name", want->pod_name);
	if (want->pod_uid)
		jput_string(j, "uid", want->pod_uid);
	jput_end(j);
}

static void put_want(struct jput *j, const struct daemon_want *want)
{
	// Any path is legal for us, but only text is for weftd, to which it is decoration.
	if (strlen(want->netns) <= FIELD_MAX && utf8_is_valid(want->netns, strlen(want->netns)))
		jput_string(j, "netns", want->netns);
	put_pod(j, want);
	put_ips(j, want->ips);
	if (want->delegated)
		jput_bool(j, "delegated", true);
	if (want->mac)
		jput_mac(j, "mac", want->mac);
	if (want->mtu)
		jput_int(j, "mtu", want->mtu);
}

static int get_ips(const struct jval *reply, const char *key, struct ip_list *ips, struct err *err)
{
	struct jval arr = {0};
	int r = jget_array(reply, key, JREQUIRED, &arr, err);

	if (r == 0 && (jarray_len(&arr) == 0 || jarray_len(&arr) > CNI_IPS_MAX))
		return err_set(err, 0, "%s: %zu addresses", arr.path, jarray_len(&arr));
	for (size_t i = 0; r == 0 && i < jarray_len(&arr); i++) {
		struct jval v = jarray_at(&arr, i);
		const char *text = "";

		r = jval_string(&v, &text, err);
		if (r == 0 && ipaddr_parse(text, &ips->ip[i]) < 0)
			r = err_set(err, 0, "%s: `%.64s` is no address", v.path, text);
		ips->count = i + 1;
	}
	return r;
}

static int get_u32(const struct jval *reply, const char *key, uint32_t *ret, struct err *err)
{
	int64_t value = 0;
	int r = jget_int(reply, key, JREQUIRED, (struct jrange){1, INT32_MAX}, &value, err);

	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

static int get_numbers(const struct jval *reply, struct daemon_grant *g, struct err *err)
{
	const struct jrange range = {0, INT32_MAX};
	int64_t size = 0, segs = 0;
	int r = get_u32(reply, "mtu", &g->mtu, err);

	if (r == 0)
		r = get_u32(reply, "host_ifindex", &g->host_ifindex, err);
	if (r == 0)
		r = jget_int(reply, "gso_max_size", JOPTIONAL, range, &size, err);
	if (r == 0)
		r = jget_int(reply, "gso_max_segs", JOPTIONAL, range, &segs, err);
	g->gso_max_size = (uint32_t)size;
	g->gso_max_segs = (uint32_t)segs;
	return r;
}

static int get_grant(const struct jval *reply, struct daemon_grant *g, struct err *err)
{
	const char *name = "";
	int r = get_ips(reply, "ips", &g->ips, err);

	if (r == 0)
		r = get_ips(reply, "gateways", &g->gateways, err);
	if (r == 0 && g->ips.count != g->gateways.count)
		r = err_set(err, 0, "%s: not one gateway per address", reply->path);
	if (r == 0)
		r = jget_mac(reply, "mac", JREQUIRED, &g->mac, err);
	if (r == 0)
		r = jget_mac(reply, "gateway_mac", JREQUIRED, &g->gateway_mac, err);
	if (r == 0)
		r = jget_string(reply, "host_ifname", JREQUIRED, &name, err);
	if (r == 0 && (name[0] == 0 || strlen(name) >= sizeof(g->host_ifname)))
		r = err_set(err, 0, "%s.host_ifname: `%.64s`", reply->path, name);
	if (r == 0)
		r = get_numbers(reply, g, err);
	if (r == 0)
		memcpy(g->host_ifname, name, strlen(name) + 1);
	return r;
}

int daemon_attach(struct client *c, const struct attachment *a, const struct daemon_want *want,
		  unsigned long long deadline_ns, struct daemon_grant *ret_grant, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = request("attach", a);
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	_close_ int fd = -1;
	struct daemon_grant grant = {0};
	struct jval root;
	int r;

	put_want(j, want);
	r = daemon_call(c, j, deadline_ns, &reply, err);
	if (r < 0)
		return r;
	fd = client_take_fd(c);
	root = jdoc_root(reply);
	r = get_grant(&root, &grant, err);
	if (r == 0 && fd < 0)
		r = err_set(err, 0, "it brought no namespace");
	if (r < 0)
		return cni_code(err, err_wrap(err, r, "attach reply of weftd"), CNI_CODE_DECODE);
	grant.netns_fd = TAKE_FD(fd);
	*ret_grant = grant;
	return 0;
}

void daemon_grant_fini(struct daemon_grant *grant)
{
	if (grant->netns_fd >= 0)
		close(grant->netns_fd);
	grant->netns_fd = -1;
}

int daemon_activate(struct client *c, const struct attachment *a, unsigned wait_ms,
		    unsigned long long deadline_ns, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = request("activate", a);

	if (wait_ms)
		jput_int(j, "wait_ms", wait_ms);
	return tell(c, j, deadline_ns, err);
}

int daemon_detach(struct client *c, const struct attachment *a, unsigned long long deadline_ns,
		  bool *ret_found, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = request("detach", a);
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	bool found = false;
	struct jval root;
	int r = daemon_call(c, j, deadline_ns, &reply, err);

	if (r < 0)
		return r;
	root = jdoc_root(reply);
	jget_bool(&root, "found", JOPTIONAL, &found, NULL);
	if (ret_found)
		*ret_found = found;
	return 0;
}

int daemon_check(struct client *c, const struct attachment *a, const struct ip_list *ips,
		 const struct macaddr *mac, unsigned long long deadline_ns, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = request("check", a);

	put_ips(j, ips);
	if (mac)
		jput_mac(j, "mac", mac);
	return tell(c, j, deadline_ns, err);
}

int daemon_ready(struct client *c, unsigned long long deadline_ns, struct err *err)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	_cleanup_(jdoc_freep) struct jdoc *reply = NULL;
	const char *msg = "weftd is not ready";
	int64_t code = CNI_CODE_UNAVAILABLE;
	bool ready = false;
	struct jval root;
	int r;

	jput_object(j, NULL);
	jput_string(j, "type", "ready");
	r = daemon_call(c, j, deadline_ns, &reply, err);
	if (r < 0)
		return r;
	root = jdoc_root(reply);
	r = jget_bool(&root, "ready", JREQUIRED, &ready, err);
	if (r < 0 || ready)
		return r;
	jget_int(&root, "code", JOPTIONAL, (struct jrange){1, INT32_MAX}, &code, NULL);
	jget_string(&root, "msg", JOPTIONAL, &msg, NULL);
	return err_set_code(err, (unsigned)code, 0, "%s", msg);
}
