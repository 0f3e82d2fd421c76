// SPDX-License-Identifier: Apache-2.0
// needs: cni
//
// CNI_ARGS, CNI_IFNAME and stdin as a runtime could send them: "args NUL ifname NUL stdin".
// Whatever is accepted must come back as one valid document.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cni_args.h"
#include "cni_conf.h"
#include "cni_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_parse(const char *text)
{
	static const struct jlimits limits = {.bytes = 8u << 20, .depth = 32};
	struct jdoc *doc = NULL;

	if (!text || jdoc_parse(text, strlen(text), &limits, &doc, NULL) < 0)
		abort();
	jdoc_free(doc);
}

static void print_error(int r, const struct err *err, const struct cni_conf *conf)
{
	const char *version = conf->version_text && conf->version != CNI_VERSION_UNKNOWN ?
				      conf->version_text :
				      NULL;
	_free_ char *owned = NULL;

	must_parse(cni_error_text(r, err, version, &owned));
}

static void print_result(const struct cni_args *args, const struct cni_conf *conf)
{
	struct cni_result res = {
		.version = conf->version,
		.ifname = args->ifname,
		.sandbox = "/run/netns/x",
		.mac = conf->has_mac ? conf->mac : args->mac,
		.mtu = conf->mtu,
		.ips = conf->ips.count ? conf->ips : args->ips,
		.prev = conf->prev_result,
		.dns = conf->dns,
	};
	_free_ char *text = NULL;

	res.gateways = res.ips;
	text = cni_result_text(&res);
	must_parse(text);
}

static void run(const char *stdin_text, size_t len)
{
	_cleanup_(cni_args_fini) struct cni_args args = {0};
	_cleanup_(cni_conf_fini) struct cni_conf conf = {0};
	struct err err = ERR_INIT;
	int r = cni_args_read(&args, 15, &err);

	conf.text = BUF_INIT(CNI_CONF_TEXT_MAX);
	if (r < 0 || buf_add(&conf.text, stdin_text, len) < 0) {
		print_error(r, &err, &conf);
		return;
	}
	r = cni_conf_parse(&conf, &err);
	if (r == 0)
		r = cni_conf_check_version(&conf, CNI_VERSION_0_1_0, "ADD", &err);
	if (r == 0)
		r = cni_conf_load_add(&conf, &err);
	if (r < 0)
		print_error(r, &err, &conf);
	else
		print_result(&args, &conf);
}

// Cuts the next text off the input; what has no NUL goes up to the end.
static const char *cut(const char **next, const char *end)
{
	const char *text = *next;
	size_t len = strlen(text);

	*next = text + len < end ? text + len + 1 : end;
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ char *text = malloc(size + 1);
	const char *next = text, *end = text + size;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	setenv("CNI_CONTAINERID", "c1", 1);
	setenv("CNI_NETNS", "/run/netns/x", 1);
	setenv("CNI_PATH", "/", 1);
	setenv("CNI_ARGS", cut(&next, end), 1);
	setenv("CNI_IFNAME", cut(&next, end), 1);
	run(next, (size_t)(end - next));
	return 0;
}
