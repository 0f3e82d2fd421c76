// SPDX-License-Identifier: Apache-2.0
#include "ipam.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child.h"

#define ADD_TIMEOUT_MS 20000 // an address server on the network may be asked
#define OUTPUT_MAX (1u << 20)
#define COMMAND "CNI_COMMAND="

bool ipam_is_used(const struct cni_conf *conf)
{
	return conf->ipam_type[0] != 0;
}

// First regular executable file of that name in a folder of the list.
static int find(const char *dirs, const char *type, char out[PATH_MAX])
{
	while (*dirs) {
		const char *end = strchrnul(dirs, ':');
		int n = snprintf(out, PATH_MAX, "%.*s/%s", (int)(end - dirs), dirs, type);
		struct stat st;

		if (end > dirs && n < PATH_MAX && stat(out, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(out, X_OK) == 0)
			return 0;
		dirs = *end ? end + 1 : end;
	}
	return -ENOENT;
}

// Our environment with another command: borrowed strings in a malloc'ed list, command first.
static char **make_env(char *command)
{
	size_t count = 0, used = 0;
	char **list;

	while (environ[count])
		count++;
	list = calloc(count + 2, sizeof(*list));
	if (!list)
		return NULL;
	list[used++] = command;
	for (size_t i = 0; i < count; i++) {
		if (strncmp(environ[i], COMMAND, strlen(COMMAND)) != 0)
			list[used++] = environ[i];
	}
	return list;
}

// The error object of a delegate that failed, as our error.
static int refuse(const struct cni_conf *conf, const struct buf *out, int status, struct err *err)
{
	static const struct jlimits limits = {.bytes = OUTPUT_MAX, .depth = 32};
	_cleanup_(jdoc_freep) struct jdoc *doc = NULL;
	const char *msg = "", *details = "";
	int64_t code = 0;

	if (out->len > 0 && jdoc_parse(out->data, out->len, &limits, &doc, NULL) == 0) {
		struct jval root = jdoc_root(doc);
		static const struct jrange codes = {0, UINT32_MAX};

		if (jget_int(&root, "code", JREQUIRED | JNOCASE, codes, &code, NULL) == 0) {
			jget_string(&root, "msg", JOPTIONAL | JNOCASE, &msg, NULL);
			jget_string(&root, "details", JOPTIONAL | JNOCASE, &details, NULL);
		}
	}
	if (code == 0)
		return err_set_code(err, CNI_CODE_DELEGATE, 0,
				    "IPAM plugin `%s` failed with %s %d and no message",
				    conf->ipam_type, WIFSIGNALED(status) ? "signal" : "status",
				    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	err_set_code(err,
		     code == CNI_CODE_TRY_AGAIN ? CNI_CODE_TRY_AGAIN : CNI_CODE_DELEGATE, 0,
		     "IPAM plugin `%s`: %.400s (code %d)%s%.400s", conf->ipam_type, msg, (int)code,
		     details[0] ? "\n" : "", details);
	// What plugins say that were built before the verb existed.
	return code == CNI_CODE_ENVIRONMENT || code == CNI_CODE_UNKNOWN_CONTAINER ? -EOPNOTSUPP :
										    -EREMOTEIO;
}

// -EREMOTEIO: it said no; -EOPNOTSUPP: the same, by code 3 or 4. -EINVAL, -ETIMEDOUT, -EMSGSIZE:
// it ran and gave no proper answer. Other values: it was not started.
static int run(const struct cni_args *args, const struct cni_conf *conf, const char *verb,
	       unsigned timeout_ms, struct buf *out, struct err *err)
{
	char path[PATH_MAX], command[32];
	_free_ char **envp = NULL;
	struct child child;
	int status = 0, r;

	if (find(args->path, conf->ipam_type, path) < 0)
		return err_set_code(err, CNI_CODE_DELEGATE, ENOENT,
				    "IPAM plugin `%s` in CNI_PATH `%s`", conf->ipam_type,
				    args->path);
	snprintf(command, sizeof(command), COMMAND "%s", verb);
	envp = make_env(command);
	if (!envp)
		return err_set(err, ENOMEM, "IPAM plugin `%s`", conf->ipam_type);
	child = (struct child){.path = path,
			       .envp = envp,
			       .input = conf->text.data,
			       .input_len = conf->text.len,
			       .timeout_ms = timeout_ms};
	r = child_run(&child, out, &status, err);
	if (r < 0)
		return cni_code(err, err_wrap(err, r, "IPAM plugin"), CNI_CODE_DELEGATE);
	return status == 0 ? 0 : refuse(conf, out, status, err);
}

static int take_address(const struct jval *obj, const char *key, struct ip_list *ips,
			struct err *err)
{
	struct ipprefix p;
	int r = jget_ipprefix(obj, key, JREQUIRED | JNOCASE, &p, err);

	if (r < 0)
		return r;
	if (ips->count == CNI_IPS_MAX)
		return err_set(err, 0, "more than %d addresses", CNI_IPS_MAX);
	if (!ipaddr_is_unicast(&p.addr))
		return err_set(err, 0, "%s.%s: no address of a pod", obj->path, key);
	ips->ip[ips->count++] = p.addr;
	return 0;
}

static int take_list(const struct jval *root, struct ip_list *ips, struct err *err)
{
	struct jval arr = {0};
	int r = jget_array(root, "ips", JREQUIRED | JNOCASE, &arr, err);

	for (size_t i = 0; r == 0 && i < jarray_len(&arr); i++) {
		struct jval ip = jarray_at(&arr, i);

		r = jval_type(&ip) == JTYPE_OBJECT ?
			    take_address(&ip, "address", ips, err) :
			    err_set(err, 0, "%s: expected an object", ip.path);
	}
	return r;
}

// The shape of 0.1.0 and 0.2.0.
static int take_legacy(const struct jval *root, struct ip_list *ips, struct err *err)
{
	static const char *const keys[] = {"ip4", "ip6"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct jval obj = {0};
		int r = jget_object(root, keys[i], JOPTIONAL | JNOCASE, &obj, err);

		if (r == 0 && !jval_is_null(&obj))
			r = take_address(&obj, "ip", ips, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_lease(const struct cni_conf *conf, const struct buf *out, struct ipam_lease *lease,
		      struct err *err)
{
	static const struct jlimits limits = {.bytes = OUTPUT_MAX, .depth = 32};
	const char *text = out->data ? out->data : "";
	struct jval root;
	int r = jdoc_parse(text, out->len, &limits, &lease->doc, err);

	if (r < 0)
		return r;
	root = jdoc_root(lease->doc);
	if (jval_type(&root) != JTYPE_OBJECT)
		return err_set(err, 0, "expected an object");
	r = conf->version < CNI_VERSION_0_3_0 ? take_legacy(&root, &lease->ips, err) :
						take_list(&root, &lease->ips, err);
	if (r < 0)
		return r;
	if (lease->ips.count == 0)
		return err_set(err, 0, "it gave no address");
	return jget_object(&root, "dns", JOPTIONAL | JNOCASE, &lease->dns, err);
}

int ipam_add(const struct cni_args *args, const struct cni_conf *conf, struct ipam_lease *ret_lease,
	     bool *ret_unsure, struct err *err)
{
	_cleanup_(buf_fini) struct buf out = BUF_INIT(OUTPUT_MAX);
	struct ipam_lease lease = {0};
	int r = run(args, conf, "ADD", ADD_TIMEOUT_MS, &out, err);

	*ret_unsure = r == -EINVAL || r == -ETIMEDOUT || r == -EMSGSIZE;
	if (r < 0)
		return r;
	r = read_lease(conf, &out, &lease, err);
	if (r < 0) {
		ipam_lease_fini(&lease);
		*ret_unsure = true;
		err_wrap(err, r, "result of IPAM plugin `%s`", conf->ipam_type);
		return cni_code(err, r, CNI_CODE_DELEGATE);
	}
	*ret_lease = lease;
	return 0;
}

void ipam_lease_fini(struct ipam_lease *lease)
{
	jdoc_free(lease->doc);
	*lease = (struct ipam_lease){0};
}

int ipam_call(const struct cni_args *args, const struct cni_conf *conf, const char *verb,
	      unsigned timeout_ms, struct err *err)
{
	_cleanup_(buf_fini) struct buf out = BUF_INIT(OUTPUT_MAX);
	struct err own = ERR_INIT;
	bool optional = strcmp(verb, "STATUS") == 0 || strcmp(verb, "GC") == 0;
	int r = run(args, conf, verb, timeout_ms, &out, &own);

	if (r == -EOPNOTSUPP && optional)
		return IPAM_UNSUPPORTED;
	if (r < 0)
		*err = own;
	return r;
}
