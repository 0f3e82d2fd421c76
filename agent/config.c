// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "base/compiler.h"
#include "health/health.h"
#include "model/names.h"

const char config_usage[] =
	"usage: weft-agent --node NAME --manifests DIR [OPTION]...\n"
	"Keeps weftd in step with the objects that concern this node.\n"
	"  --node NAME            name of this node, as its Node object has it\n"
	"  --manifests DIR        read objects from the *.yaml, *.yml and *.json below DIR\n"
	"  --run-dir DIR          where weftd's socket is (" CONFIG_RUN_DIR ")\n"
	"  --cni-conf-dir DIR     write the CNI configuration there when pods can be added\n"
	"  --cni-conf-name NAME   its file name (" CONFIG_CNI_NAME ")\n"
	"  --health ADDR:PORT     serve /healthz and /readyz\n"
	"  --metrics ADDR:PORT    serve /metrics\n"
	"  --log-level LEVEL      err, warn, info (default), debug\n"
	"  --log-format FORMAT    text (default) or json\n"
	"  --help, --version\n";

enum option_id {
	OPTION_NODE = 256,
	OPTION_RUN_DIR,
	OPTION_MANIFESTS,
	OPTION_CNI_CONF_DIR,
	OPTION_CNI_CONF_NAME,
	OPTION_METRICS,
	OPTION_HEALTH,
	OPTION_LOG_LEVEL,
	OPTION_LOG_FORMAT,
	OPTION_KUBECONFIG,
	OPTION_API_SERVER,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option options[] = {
	{"node", required_argument, NULL, OPTION_NODE},
	{"run-dir", required_argument, NULL, OPTION_RUN_DIR},
	{"manifests", required_argument, NULL, OPTION_MANIFESTS},
	{"cni-conf-dir", required_argument, NULL, OPTION_CNI_CONF_DIR},
	{"cni-conf-name", required_argument, NULL, OPTION_CNI_CONF_NAME},
	{"metrics", required_argument, NULL, OPTION_METRICS},
	{"health", required_argument, NULL, OPTION_HEALTH},
	{"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
	{"log-format", required_argument, NULL, OPTION_LOG_FORMAT},
	{"kubeconfig", required_argument, NULL, OPTION_KUBECONFIG},
	{"api-server", required_argument, NULL, OPTION_API_SERVER},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

// Options whose text is taken as it is.
struct text_option {
	int id;
	size_t offset; // of the pointer in struct config
};

static const struct text_option texts[] = {
	{OPTION_NODE, offsetof(struct config, node)},
	{OPTION_RUN_DIR, offsetof(struct config, run_dir)},
	{OPTION_MANIFESTS, offsetof(struct config, manifests)},
	{OPTION_CNI_CONF_DIR, offsetof(struct config, cni_conf_dir)},
	{OPTION_CNI_CONF_NAME, offsetof(struct config, cni_conf_name)},
	{OPTION_METRICS, offsetof(struct config, metrics)},
	{OPTION_HEALTH, offsetof(struct config, health)},
};

static const char *name_of(int id)
{
	for (size_t i = 0; options[i].name; i++)
		if (options[i].val == id)
			return options[i].name;
	return "?";
}

static int set_text(struct config *c, int id, const char *text, struct err *err)
{
	if (!*text)
		return err_set(err, 0, "--%s: empty value", name_of(id));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].id == id)
			*(const char **)((char *)c + texts[i].offset) = text;
	return 0;
}

static int set_option(struct config *c, int id, const char *text, struct err *err)
{
	switch (id) {
	case OPTION_HELP:
		c->wants_help = true;
		return 0;
	case OPTION_VERSION:
		c->wants_version = true;
		return 0;
	case OPTION_LOG_LEVEL:
		if (log_level_parse(text, &c->log_level) < 0)
			return err_set(err, 0, "--log-level: `%s` is no level", text);
		return 0;
	case OPTION_LOG_FORMAT:
		if (strcmp(text, "text") && strcmp(text, "json"))
			return err_set(err, 0, "--log-format: `%s` is neither text nor json", text);
		c->log_json = !strcmp(text, "json");
		return 0;
	case OPTION_KUBECONFIG:
	case OPTION_API_SERVER:
		return err_set(err, 0, "--%s: not supported yet, use --manifests DIR", name_of(id));
	default:
		return set_text(c, id, text, err);
	}
}

static int check_address(const char *option, const char *text, struct err *err)
{
	char host[HEALTH_HOST_MAX];
	uint16_t port;

	if (text && health_address_parse(text, host, &port) < 0)
		return err_set(err, 0, "--%s: `%s` is no ADDR:PORT", option, text);
	return 0;
}

static int check(const struct config *c, struct err *err)
{
	struct sockaddr_un sun;
	int r;

	if (!c->node)
		return err_set(err, 0, "--node NAME is missing");
	if (!names_is_subdomain(c->node))
		return err_set(err, 0, "--node: `%s` is no valid name", c->node);
	if (!c->manifests)
		return err_set(err, 0, "--manifests DIR is missing, the only source so far");
	if (strlen(c->run_dir) + sizeof("/weftd.sock") > sizeof(sun.sun_path))
		return err_set(err, 0, "--run-dir: `%s` is too long for a socket's path",
			       c->run_dir);
	r = check_address("metrics", c->metrics, err);
	return r < 0 ? r : check_address("health", c->health, err);
}

int config_parse(int argc, char **argv, struct config *ret_config, struct err *err)
{
	struct config c = {.run_dir = CONFIG_RUN_DIR,
			   .cni_conf_name = CONFIG_CNI_NAME,
			   .log_level = LOG_LEVEL_INFO};
	int id, r;

	optind = 0; // a fresh scan, whatever ran before
	opterr = 0;
	while ((id = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (id == '?')
			return err_set(err, 0, "unknown option `%s`", argv[optind - 1]);
		if (id == ':')
			return err_set(err, 0, "%s needs a value", argv[optind - 1]);
		r = set_option(&c, id, optarg, err);
		if (r < 0)
			return r;
	}
	if (!c.wants_help && !c.wants_version) {
		if (optind < argc)
			return err_set(err, 0, "unexpected argument `%s`", argv[optind]);
		r = check(&c, err);
		if (r < 0)
			return r;
	}
	*ret_config = c;
	return 0;
}
