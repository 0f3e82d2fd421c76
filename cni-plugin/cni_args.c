// SPDX-License-Identifier: Apache-2.0
#include "cni_args.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/compiler.h"
#include "base/utf8.h"

#define ID_MAX 1024 // what weftd accepts in one field

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool cni_args_is_id(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > ID_MAX || !is_alnum(text[0]))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!is_alnum(text[i]) && !strchr("_.-", text[i]))
			return false;
	}
	return true;
}

// The white space of Unicode beyond ASCII, as the reference implementation refuses it.
static bool is_wide_space(const unsigned char *s)
{
	static const char *const spaces[] = {
		"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
		"\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
	};

	for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
		if (strncmp((const char *)s, spaces[i], strlen(spaces[i])) == 0)
			return true;
	}
	return s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0x80 && s[2] <= 0x8a; // U+2000..U+200A
}

// What is wrong with an interface name, or NULL.
static const char *ifname_fault(const char *name)
{
	const unsigned char *s = (const unsigned char *)name;
	size_t left = strlen(name), size;

	if (left >= IFNAMSIZ)
		return "is longer than 15 bytes";
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return "is . or ..";
	for (; left > 0; s += size, left -= size) {
		size = utf8_seq((const char *)s, left);
		if (size == 0)
			return "is not valid UTF-8";
		if (*s == '/' || *s == ':')
			return "contains / or :";
		if (*s <= ' ' || *s == 0x7f || is_wide_space(s))
			return "contains white space or control characters";
	}
	return NULL;
}

int cni_args_add_ips(struct ip_list *ips, const char *text)
{
	struct ip_list list = *ips;
	const char *end;

	for (;; text = end + 1) {
		char one[IPPREFIX_TEXT_MAX];
		struct ipprefix p;
		size_t len;

		end = strchrnul(text, ',');
		len = (size_t)(end - text);
		if (len >= sizeof(one))
			return -EINVAL;
		memcpy(one, text, len);
		one[len] = 0;
		if (ipprefix_parse(one, &p) < 0 || !ipaddr_is_unicast(&p.addr))
			return -EINVAL;
		if (list.count == CNI_IPS_MAX)
			return -E2BIG;
		list.ip[list.count++] = p.addr;
		if (*end == 0)
			break;
	}
	*ips = list;
	return 0;
}

int cni_args_parse_mac(const char *text, struct macaddr *ret_mac)
{
	static const struct macaddr zero;
	struct macaddr mac;

	if (macaddr_parse(text, &mac) < 0 || (mac.b[0] & 1) ||
	    memcmp(&mac, &zero, sizeof(mac)) == 0)
		return -EINVAL;
	*ret_mac = mac;
	return 0;
}

// Keys that we do not know belong to somebody else and are ignored, whatever IgnoreUnknown says.
static int take_pair(struct cni_args *args, const char *key, const char *value, struct err *err)
{
	if (*value == 0)
		return 0;
	if (strcmp(key, "K8S_POD_NAMESPACE") == 0) {
		args->pod_namespace = value;
	} else if (strcmp(key, "K8S_POD_NAME") == 0) {
		args->pod_name = value;
	} else if (strcmp(key, "K8S_POD_UID") == 0) {
		args->pod_uid = value;
	} else if (strcmp(key, "IP") == 0) {
		if (cni_args_add_ips(&args->ips, value) < 0)
			return err_set(err, 0, "CNI_ARGS: bad address list IP=%s", value);
	} else if (strcmp(key, "MAC") == 0) {
		if (cni_args_parse_mac(value, &args->mac) < 0)
			return err_set(err, 0, "CNI_ARGS: bad address MAC=%s", value);
		args->has_mac = true;
	}
	return 0;
}

static int parse_pairs(struct cni_args *args, const char *text, struct err *err)
{
	char *next;

	args->copy = strdup(text);
	if (!args->copy)
		return err_set(err, ENOMEM, "CNI_ARGS");
	next = args->copy;
	while (next) {
		char *pair = strsep(&next, ";");
		char *eq = strchr(pair, '=');
		int r;

		if (*pair == 0)
			continue;
		if (!eq || eq == pair)
			return err_set(err, 0, "CNI_ARGS: `%s` is not KEY=VALUE", pair);
		*eq = 0;
		r = take_pair(args, pair, eq + 1, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_present(const struct cni_args *args, unsigned needs, struct err *err)
{
	const struct {
		const char *name, *value;
		unsigned need;
	} vars[] = {
		{"CNI_CONTAINERID", args->container_id, CNI_NEEDS_ATTACHMENT},
		{"CNI_NETNS", args->netns, CNI_NEEDS_NETNS},
		{"CNI_IFNAME", args->ifname, CNI_NEEDS_ATTACHMENT},
		{"CNI_PATH", args->path, CNI_NEEDS_PATH},
	};
	char missing[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_LEN(vars); i++) {
		if (!(needs & vars[i].need) || vars[i].value[0])
			continue;
		used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
					 used ? "," : "", vars[i].name);
	}
	if (used > 0)
		return err_set(err, 0, "required env variables [%s] missing", missing);
	return 0;
}

static int check_attachment(const struct cni_args *args, struct err *err)
{
	const char *fault = ifname_fault(args->ifname);

	if (!cni_args_is_id(args->container_id))
		return err_set(err, 0, "CNI_CONTAINERID: invalid container id `%.64s`",
			       args->container_id);
	if (fault)
		return err_set(err, 0, "CNI_IFNAME: interface name `%.64s` %s", args->ifname,
			       fault);
	return 0;
}

static int read_all(struct cni_args *args, unsigned needs, struct err *err)
{
	int r = check_present(args, needs, err);

	if (r == 0 && (needs & CNI_NEEDS_ATTACHMENT))
		r = check_attachment(args, err);
	if (r == 0 && (needs & CNI_NEEDS_ARGS))
		r = parse_pairs(args, env("CNI_ARGS"), err);
	return r;
}

int cni_args_read(struct cni_args *args, unsigned needs, struct err *err)
{
	const char *override = env("CNI_NETNS_OVERRIDE");

	args->container_id = env("CNI_CONTAINERID");
	args->ifname = env("CNI_IFNAME");
	args->netns = env("CNI_NETNS");
	args->path = env("CNI_PATH");
	args->netns_override = strcmp(override, "1") == 0 || strcasecmp(override, "true") == 0;
	return cni_code(err, read_all(args, needs, err), CNI_CODE_ENVIRONMENT);
}

void cni_args_fini(struct cni_args *args)
{
	free(args->copy);
	*args = (struct cni_args){0};
}
