// SPDX-License-Identifier: Apache-2.0
#include "cni_result.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/jput.h"

int cni_code(struct err *err, int r, enum cni_code code)
{
	if (r < 0 && err && err->code == 0)
		err->code = code;
	return r;
}

static struct ipprefix host_prefix(const struct ipaddr *a)
{
	return (struct ipprefix){.addr = *a, .len = ipaddr_is_v4(a) ? 32 : 128};
}

// Index of the first address of a family, or -1.
static int first_of(const struct ip_list *ips, bool v4)
{
	for (size_t i = 0; i < ips->count; i++) {
		if (ipaddr_is_v4(&ips->ip[i]) == v4)
			return (int)i;
	}
	return -1;
}

static const char *default_dst(bool v4)
{
	return v4 ? "0.0.0.0/0" : "::/0";
}

// One default route for a family that the attachment has an address of.
static void put_route(struct jput *j, const struct cni_result *res, bool v4)
{
	int i = first_of(&res->ips, v4);

	if (i < 0)
		return;
	jput_object(j, NULL);
	jput_string(j, "dst", default_dst(v4));
	jput_ipaddr(j, "gw", &res->gateways.ip[i]);
	jput_end(j);
}

// Opens the array `key` and copies what the plugin before us put there. Returns how many that
// were.
static size_t put_prev(struct jput *j, const struct cni_result *res, const char *key)
{
	struct jval arr = {0};

	jput_array(j, key);
	if (jget_array(&res->prev, key, JNOCASE, &arr, NULL) < 0)
		return 0;
	for (size_t i = 0; i < jarray_len(&arr); i++) {
		struct jval v = jarray_at(&arr, i);
		jput_value(j, NULL, &v);
	}
	return jarray_len(&arr);
}

static size_t put_interfaces(struct jput *j, const struct cni_result *res)
{
	size_t index = put_prev(j, res, "interfaces");

	jput_object(j, NULL);
	jput_string(j, "name", res->ifname);
	jput_mac(j, "mac", &res->mac);
	if (res->version >= CNI_VERSION_1_1_0)
		jput_int(j, "mtu", res->mtu);
	jput_string(j, "sandbox", res->sandbox);
	jput_end(j);
	jput_end(j);
	return index;
}

static void put_ips(struct jput *j, const struct cni_result *res, size_t index)
{
	put_prev(j, res, "ips");
	for (size_t i = 0; i < res->ips.count; i++) {
		struct ipprefix p = host_prefix(&res->ips.ip[i]);

		jput_object(j, NULL);
		if (res->version < CNI_VERSION_1_0_0)
			jput_string(j, "version", ipaddr_is_v4(&p.addr) ? "4" : "6");
		jput_int(j, "interface", (int64_t)index);
		jput_ipprefix(j, "address", &p);
		jput_ipaddr(j, "gateway", &res->gateways.ip[i]);
		jput_end(j);
	}
	jput_end(j);
}

static void put_dns(struct jput *j, const struct cni_result *res)
{
	struct jval prev = {0};

	if (jget_object(&res->prev, "dns", JNOCASE, &prev, NULL) == 0 && !jval_is_null(&prev)) {
		void *iter = NULL;
		const char *key;
		struct jval val;
		// Runtimes add an empty dns object to every prevResult: it says nothing.
		if (jobject_next(&prev, &iter, &key, &val)) {
			jput_value(j, "dns", &prev);
			return;
		}
	}
	if (!jval_is_null(&res->dns)) {
		jput_value(j, "dns", &res->dns);
		return;
	}
	jput_object(j, "dns");
	jput_end(j);
}

// 0.1.0 and 0.2.0 know one address per family and no interfaces.
static void put_legacy_ip(struct jput *j, const struct cni_result *res, bool v4)
{
	int i = first_of(&res->ips, v4);
	struct ipprefix p;

	if (i < 0)
		return;
	p = host_prefix(&res->ips.ip[i]);
	jput_object(j, v4 ? "ip4" : "ip6");
	jput_ipprefix(j, "ip", &p);
	jput_ipaddr(j, "gateway", &res->gateways.ip[i]);
	jput_array(j, "routes");
	put_route(j, res, v4);
	jput_end(j);
	jput_end(j);
}

char *cni_result_text(const struct cni_result *res)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();

	jput_object(j, NULL);
	jput_string(j, "cniVersion", cni_version_name(res->version));
	if (res->version < CNI_VERSION_0_3_0) {
		put_legacy_ip(j, res, true);
		put_legacy_ip(j, res, false);
	} else {
		put_ips(j, res, put_interfaces(j, res));
		put_prev(j, res, "routes");
		put_route(j, res, true);
		put_route(j, res, false);
		jput_end(j);
	}
	put_dns(j, res);
	jput_end(j);
	return jput_take(j);
}

// The one place where a system error without a code becomes a CNI code.
static unsigned code_of(int r, const struct err *err)
{
	if (err->code != 0)
		return err->code;
	switch (-r) {
	case EINVAL:
	case ERANGE:
	case ENAMETOOLONG:
		return CNI_CODE_CONFIG;
	case ECONNREFUSED:
	case ECONNRESET:
	case ETIMEDOUT:
	case EAGAIN:
	case ENOMEM:
		return CNI_CODE_TRY_AGAIN;
	default:
		return CNI_CODE_IO;
	}
}

const char *cni_error_text(int r, const struct err *err, const char *version, char **ret_owned)
{
	_cleanup_(jput_freep) struct jput *j = jput_new();
	// Names from the environment stand in the text and may be any bytes.
	_free_ char *text = utf8_repair(err->text[0] ? err->text : strerror(-r));
	char *nl = text ? strchr(text, '\n') : NULL;

	if (nl)
		*nl = 0;
	jput_object(j, NULL);
	jput_string(j, "cniVersion", version ? version : cni_version_name(CNI_VERSION_1_0_0));
	jput_int(j, "code", code_of(r, err));
	jput_string(j, "msg", text);
	if (nl)
		jput_string(j, "details", nl + 1);
	jput_end(j);
	*ret_owned = text ? jput_take(j) : NULL;
	return *ret_owned ? *ret_owned :
			    "{\"cniVersion\":\"1.0.0\",\"code\":11,\"msg\":\"out of memory\"}";
}
