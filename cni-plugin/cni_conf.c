// SPDX-License-Identifier: Apache-2.0
#include "cni_conf.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "caps.h"

LOG_MODULE("conf");

#define NAME_MAX_LEN 255 // a file name: runtimes and IPAM plugins keep files by it
#define DEFAULT_RUN_DIR "/run/weft"
#define DEFAULT_NETNS "weft"
#define DEFAULT_ADD_TIMEOUT_S 15
#define DEPTH_MAX 32

// Optional string with a default; "" counts as absent.
static int get_text(const struct jval *obj, const char *key, const char *fallback, const char **ret,
		    struct err *err)
{
	const char *text = "";
	int r = jget_string(obj, key, JOPTIONAL | JNOCASE, &text, err);

	if (r == 0)
		*ret = text[0] ? text : fallback;
	return r;
}

static int read_version(struct cni_conf *conf, struct err *err)
{
	int r = get_text(&conf->root, "cniVersion", "0.1.0", &conf->version_text, err);

	if (r < 0)
		return cni_code(err, r, CNI_CODE_DECODE);
	conf->version = cni_version_parse(conf->version_text);
	return 0;
}

static int read_name(struct cni_conf *conf, struct err *err)
{
	int r = get_text(&conf->root, "name", "", &conf->name, err);

	if (r < 0)
		return cni_code(err, r, CNI_CODE_DECODE);
	if (conf->name[0] == 0)
		return err_set_code(err, CNI_CODE_CONFIG, 0, "missing network name");
	if (!cni_args_is_id(conf->name) || strlen(conf->name) > NAME_MAX_LEN)
		return err_set_code(err, CNI_CODE_CONFIG, 0,
				    "invalid characters in network name `%.64s`", conf->name);
	return 0;
}

static int read_ipam(struct cni_conf *conf, struct err *err)
{
	struct jval ipam = {0};
	int r = jget_object(&conf->root, "ipam", JOPTIONAL | JNOCASE, &ipam, err);

	conf->ipam_type = "";
	if (r == 0 && !jval_is_null(&ipam))
		r = get_text(&ipam, "type", "", &conf->ipam_type, err);
	if (r == 0 && (strchr(conf->ipam_type, '/') || conf->ipam_type[0] == '.'))
		return err_set(err, 0, "$.ipam.type: `%.64s` is not the name of a plugin",
			       conf->ipam_type);
	return r;
}

static int read_places(struct cni_conf *conf, struct err *err)
{
	int r = get_text(&conf->root, "runDir", DEFAULT_RUN_DIR, &conf->run_dir, err);

	if (r == 0)
		r = get_text(&conf->root, "netns", DEFAULT_NETNS, &conf->netns, err);
	if (r == 0)
		r = get_text(&conf->root, "logFile", "", &conf->log_file, err);
	if (r == 0)
		r = get_text(&conf->root, "logLevel", "", &conf->log_level, err);
	if (r < 0)
		return r;
	if (conf->run_dir[0] != '/')
		return err_set(err, 0, "$.runDir: `%.64s` is not an absolute path", conf->run_dir);
	if (!cni_args_is_id(conf->netns))
		return err_set(err, 0, "$.netns: `%.64s` is not a name", conf->netns);
	return 0;
}

int cni_conf_parse(struct cni_conf *conf, struct err *err)
{
	static const struct jlimits limits = {.bytes = CNI_CONF_TEXT_MAX, .depth = DEPTH_MAX};
	const char *text = conf->text.data ? conf->text.data : "";
	int r = jdoc_parse(text, conf->text.len, &limits, &conf->doc, err);

	if (r < 0)
		return cni_code(err, err_wrap(err, r, "network config on stdin"), CNI_CODE_DECODE);
	conf->root = jdoc_root(conf->doc);
	if (jval_type(&conf->root) != JTYPE_OBJECT)
		return err_set_code(err, CNI_CODE_DECODE, 0,
				    "network config on stdin: expected a JSON object");
	r = read_version(conf, err);
	if (r == 0)
		r = read_name(conf, err);
	if (r == 0)
		r = read_places(conf, err);
	if (r == 0)
		r = read_ipam(conf, err);
	if (r == 0)
		r = jget(&conf->root, "prevResult", JOPTIONAL | JNOCASE, &conf->prev_result, err);
	return cni_code(err, r, CNI_CODE_CONFIG);
}

int cni_conf_read(struct cni_conf *conf, int fd, struct err *err)
{
	int r;

	conf->text = BUF_INIT(CNI_CONF_TEXT_MAX);
	r = buf_read_fd(&conf->text, fd);
	if (r == -EMSGSIZE)
		return err_set_code(err, CNI_CODE_DECODE, 0,
				    "network config on stdin is longer than %u bytes",
				    CNI_CONF_TEXT_MAX);
	if (r < 0)
		return err_set_code(err, CNI_CODE_IO, -r, "read network config from stdin");
	return cni_conf_parse(conf, err);
}

int cni_conf_check_version(const struct cni_conf *conf, enum cni_version min, const char *verb,
			   struct err *err)
{
	if (conf->version == CNI_VERSION_UNKNOWN)
		return err_set_code(err, CNI_CODE_VERSION, 0,
				    "incompatible CNI versions\n"
				    "config is \"%.64s\", plugin supports [%s]",
				    conf->version_text, cni_version_list());
	if (conf->version < min)
		return err_set_code(err, CNI_CODE_VERSION, 0,
				    "config version does not allow %s\n"
				    "config is \"%s\", %s needs at least \"%s\"",
				    verb, conf->version_text, verb, cni_version_name(min));
	return 0;
}

// One array of addresses, each with or without "/LEN".
static int read_ips(struct cni_conf *conf, const struct jval *obj, struct err *err)
{
	struct jval arr = {0};
	int r = jget_array(obj, "ips", JOPTIONAL | JNOCASE, &arr, err);

	if (r < 0 || conf->ips.count > 0)
		return r;
	for (size_t i = 0; i < jarray_len(&arr); i++) {
		struct jval v = jarray_at(&arr, i);
		const char *text = "";

		r = jval_string(&v, &text, err);
		if (r < 0)
			return r;
		r = cni_args_add_ips(&conf->ips, text);
		if (r < 0)
			return err_set(err, 0, "%s: `%.64s` is %s", v.path, text,
				       r == -E2BIG ? "one address too many" :
						     "no address of a pod");
	}
	return 0;
}

static int read_args_cni(struct cni_conf *conf, struct err *err)
{
	struct jval args = {0}, cni = {0};
	int r = jget_object(&conf->root, "args", JOPTIONAL | JNOCASE, &args, err);

	if (r < 0 || jval_is_null(&args))
		return r;
	r = jget_object(&args, "cni", JOPTIONAL | JNOCASE, &cni, err);
	if (r < 0 || jval_is_null(&cni))
		return r;
	return read_ips(conf, &cni, err);
}

static int read_mac(struct cni_conf *conf, const struct jval *rc, struct err *err)
{
	const char *text = "";
	int r = get_text(rc, "mac", "", &text, err);

	if (r < 0 || text[0] == 0)
		return r;
	if (cni_args_parse_mac(text, &conf->mac) < 0)
		return err_set(err, 0, "%s.mac: `%.64s` is no address of an interface", rc->path,
			       text);
	conf->has_mac = true;
	return 0;
}

static int read_runtime_config(struct cni_conf *conf, struct err *err)
{
	struct jval rc = {0};
	struct caps caps = {0};
	int r = jget_object(&conf->root, "runtimeConfig", JOPTIONAL | JNOCASE, &rc, err);

	if (r < 0 || jval_is_null(&rc))
		return r;
	r = read_ips(conf, &rc, err);
	if (r == 0)
		r = read_mac(conf, &rc, err);
	if (r == 0)
		r = caps_read(&rc, &caps, err);
	if (r < 0)
		return r;
	if (caps.port_mappings > 0)
		LOG_WARN("host ports are not enforced yet", "network=%s count=%zu", conf->name,
			 caps.port_mappings);
	if (caps.bandwidth)
		LOG_WARN("bandwidth limits are not enforced yet", "network=%s", conf->name);
	return 0;
}

static int read_numbers(struct cni_conf *conf, struct err *err)
{
	int64_t mtu = 0, timeout_s = DEFAULT_ADD_TIMEOUT_S;
	int r = jget_int(&conf->root, "mtu", JOPTIONAL | JNOCASE, (struct jrange){0, 65535}, &mtu,
			 err);

	if (r == 0)
		r = jget_int(&conf->root, "addTimeout", JOPTIONAL | JNOCASE,
			     (struct jrange){0, 600}, &timeout_s, err);
	if (r < 0)
		return r;
	if (mtu != 0 && mtu < 576)
		return err_set(err, 0, "$.mtu: %d is less than 576", (int)mtu);
	conf->mtu = (uint32_t)mtu;
	conf->add_timeout_s = (unsigned)timeout_s;
	return 0;
}

// A result of 0.3.0 or later has arrays where we would add to them.
static int check_prev_result(struct cni_conf *conf, struct err *err)
{
	static const char *const keys[] = {"interfaces", "ips", "routes"};
	const struct jval *prev = &conf->prev_result;

	if (jval_is_null(prev))
		return 0;
	if (jval_type(prev) != JTYPE_OBJECT)
		return err_set(err, 0, "%s: expected an object", prev->path);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct jval arr = {0};
		int r = jget_array(prev, keys[i], JOPTIONAL | JNOCASE, &arr, err);

		if (r < 0)
			return r;
	}
	return 0;
}

int cni_conf_load_add(struct cni_conf *conf, struct err *err)
{
	int r = check_prev_result(conf, err);

	if (r < 0)
		return cni_code(err, r, CNI_CODE_DECODE);
	r = read_numbers(conf, err);
	if (r == 0)
		r = read_args_cni(conf, err);
	if (r == 0)
		r = read_runtime_config(conf, err);
	if (r == 0)
		r = jget_object(&conf->root, "dns", JOPTIONAL | JNOCASE, &conf->dns, err);
	return cni_code(err, r, CNI_CODE_CONFIG);
}

void cni_conf_fini(struct cni_conf *conf)
{
	jdoc_free(conf->doc);
	buf_fini(&conf->text);
	*conf = (struct cni_conf){0};
}
